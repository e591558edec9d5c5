"""Fingerprints of single samples: which are in both training and validation, and which have two labels.

Prints are of a few elements of each row. Features of the training samples are kept for `relations`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.observe.arrays import Tensor, Values, dtype_name, is_real, size
from traindx.observe.data.batch_rows import (
    ENOUGH,
    Moments,
    marks_of,
    rows_of,
    target_places,
    target_rows,
    targets_per_sample,
)
from traindx.observe.data.relations import relation
from traindx.observe.data.token_offsets import TokenOffsets

Others = tuple[Tensor, ...]
_KNOWN, _KEPT = 100_000, 800
_VALIDATED = 64
_FEW_PEAKS = 8
_GROUPS = 6
_SKETCHED = 32
# Samples of validation whose values together tell on what scale they are.
_FEW_SAMPLES = 8


class Fingerprints:
    """Remembers samples of training and of validation, and compares the two in the end."""

    def __init__(self) -> None:
        self._labels: dict[int, float | None] = {}
        self._samples = self._again = self._twice = self._relabelled = 0
        self._rows: list[Values] = []
        self._row_targets: list[float | Values] = []
        self._classes: bool | None = None
        # The share of a batch's numbers that are all different: small where few inputs are possible.
        self._levels: float | None = None
        self._offsets = TokenOffsets()
        # Elements of the input that were the target in every batch so far.
        self._targets_at: Values | None = None
        self._batches_compared = 0
        self._width = 0
        self._source = ""
        self._dtype, self._elements, self.extra_tensors = "", 0, 0
        self._peaks: list[float] = []
        self._peaks_wanted: list[float] = []
        self._bad = 0
        self._training, self._validation = Moments(), Moments()
        self._evaluated: dict[tuple[str, int], list[Values]] = {}
        self._judged = 0
        self._every_row = self._every_row_judged = True

    def trained(
        self,
        inputs: Tensor,
        target: Tensor | None,
        source: str = "model",
        other_tensors: Others = (),
    ) -> None:
        """A batch that a step is taken on, with its targets where there is one for each sample."""
        if source == "model":
            self._offsets.add(inputs, target)
        rows = rows_of(inputs)
        if rows is None:
            return
        self._every_row &= len(rows) == inputs.shape[0]
        if source == "model" and is_real(inputs):
            self._training.add(rows)
        self._source = self._source or source
        if source != self._source:
            # The same samples, perhaps in another form: enough to know them again.
            for mark in marks_of(rows, other_tensors).tolist():
                self._labels.setdefault(mark, None)
            return
        self._dtype = self._dtype or dtype_name(inputs)
        self._elements = self._elements or size(inputs[0])
        labels = targets_per_sample(target, inputs.shape[0], rows.shape[0])
        if labels is not None:
            whole = not is_real(target) or bool(np.isin(labels, (0, 1)).all())
            self._classes = whole if self._classes is None else self._classes and whole
            if not whole:
                self._peaks_wanted.append(float(np.abs(labels).max()))
            self._find_targets(inputs, labels)
        vectors = target_rows(target, inputs, len(rows)) if labels is None else None
        if vectors is not None and self._classes is None:
            self._classes = False
        if rows.dtype.kind == "f":
            self._note_extent(rows)
            if self._levels is None:
                self._levels = float(np.unique(rows).size / max(1, rows.size))
        marks = marks_of(rows, other_tensors).tolist()
        self._samples += len(marks)
        self._twice += len(marks) - len(set(marks))
        for number, mark in enumerate(marks):
            label = None if labels is None else float(labels[number])
            self._note(mark, label, rows[number], label if vectors is None else vectors[number])

    def _find_targets(self, inputs: Tensor, labels: Values) -> None:
        places_so_far = self._targets_at
        if places_so_far is not None and not places_so_far.any():
            return
        places = target_places(inputs, labels)
        if places is not None and (places_so_far is None or places_so_far.shape == places.shape):
            self._targets_at = places if places_so_far is None else places_so_far & places
            self._batches_compared += 1

    def note_trained(self, inputs: Tensor, other_tensors: Others = ()) -> None:
        """Samples that are trained on, whichever steps are sampled: only their prints are kept."""
        rows = rows_of(inputs)
        for mark in marks_of(rows, other_tensors).tolist() if rows is not None else ():
            if len(self._labels) < _KNOWN:
                self._labels.setdefault(mark, None)

    def _note_extent(self, rows: Values) -> None:
        finite = np.isfinite(rows)
        if not finite.all():
            self._bad += 1
            rows = np.where(finite, rows, 0.0)
        if len(self._peaks) < _KEPT:
            self._peaks.append(float(np.abs(rows).max()))

    def _note(self, mark: int, label: float | None, row: Values, target: float | Values | None) -> None:
        if mark in self._labels:
            first_label = self._labels[mark]
            self._again += 1
            self._relabelled += first_label is not None and label is not None and first_label != label
            return
        if len(self._labels) < _KNOWN:
            self._labels[mark] = label
        if target is not None and len(self._rows) < _KEPT and self._width in (0, row.size):
            if self._row_targets and np.shape(target) != np.shape(self._row_targets[0]):
                return
            self._width = row.size
            self._rows.append(row.astype(np.float32))
            self._row_targets.append(target)

    @property
    def validates(self) -> bool:
        """Whether more of what the model gets in validation is wanted."""
        return self._judged < _VALIDATED

    def evaluated(
        self, inputs: Tensor, group: tuple[str, int] | None = None, other_tensors: Others = ()
    ) -> None:
        """A batch that the model is only judged on; those of one loader, or of one size, are a group."""
        source = group or ("model", inputs.shape[0])
        rows = rows_of(inputs) if self.wants(source) else None
        if rows is None:
            return
        self._every_row_judged &= len(rows) == inputs.shape[0]
        if group is None:
            self._judged += 1
            if is_real(inputs):
                self._validation.add(rows)
        self._evaluated.setdefault(source, []).append(marks_of(rows, other_tensors))

    def wants(self, group: tuple[str, int]) -> bool:
        """Whether more of a group of validation is wanted."""
        batches = self._evaluated.get(group)
        return len(self._evaluated) < _GROUPS if batches is None else len(batches) < _VALIDATED

    def sequence_facts(self) -> dict[str, object]:
        """The offset of the targets of sequences in their inputs."""
        offsets = self._offsets.facts()
        return {"token_offsets": offsets} if offsets else {}

    def facts(self) -> dict[str, object]:
        """What the end of a training shows of its samples."""
        if not self._samples:
            return {}
        facts: dict[str, object] = {
            "taken": self._samples,
            "distinct": len(self._labels),
            "twice_in_a_batch": self._twice,
            "came_again": self._again,
            "features": self._width or self._training.features.mean.size,
            "sketch": _sketch(np.fromiter(self._labels, dtype=np.uint64, count=len(self._labels))),
            "every_row": self._every_row,
        }
        facts["nonfinite_batches"] = self._bad
        if self._levels is not None:
            facts["levels"] = round(self._levels, 3)
        for name, peaks in (("input_peak", self._peaks), ("target_peak", self._peaks_wanted)):
            if len(peaks) >= _FEW_PEAKS and (usual := float(np.median(peaks))) > 0:
                facts[name] = {"usual": usual, "largest": max(peaks), "batches": len(peaks)}
        if self._classes:
            facts["relabelled"] = self._relabelled
        if self._targets_at is not None and self._batches_compared >= 3:
            places = np.flatnonzero(self._targets_at)
            facts["target_in_input"] = {"batches": self._batches_compared, "places": places[:8].tolist()}
        held_out = self._least_known()
        if held_out:
            facts["validation"] = held_out | self._differences() | {"every_row": self._every_row_judged}
        if len(self._rows) >= 2 * ENOUGH and self._classes is not None:
            relation_facts = relation(
                np.stack(self._rows), np.array(self._row_targets), classes=self._classes
            )
            if relation_facts:
                facts["relation"] = relation_facts
                facts["input"] = self._input()
        return facts

    def _input(self) -> dict[str, object]:
        """The inputs that the relation was measured on: part of them may not predict much."""
        whole = all(bool((row == np.round(row)).all()) for row in self._rows)
        facts = {"dtype": self._dtype, "elements": self._elements, "whole": whole}
        return facts | ({"beside": self.extra_tensors} if self._source == "loader" else {})

    def _least_known(self) -> dict[str, Any]:
        """The group with the smallest share of training samples: scripts also evaluate on training data."""
        groups = [self._of_validation(batches) for batches in self._evaluated.values() if batches]
        most_samples = max((group["taken"] for group in groups), default=0.0)
        enough = [group for group in groups if group["taken"] >= min(ENOUGH, most_samples)]
        return min(enough, key=_known_share) if enough else {}

    def _of_validation(self, batches: list[Values]) -> dict[str, Any]:
        hits = [[mark in self._labels for mark in marks.tolist()] for marks in batches]
        every = np.concatenate(batches)
        return {
            "batches": len(hits),
            "batches_with_known": sum(any(batch_hits) for batch_hits in hits),
            "taken": int(every.size),
            "distinct": int(np.unique(every).size),
            "known": sum(sum(batch_hits) for batch_hits in hits),
            "sketch": _sketch(every),
        }

    def _differences(self) -> dict[str, float]:
        """The shift of validation features, in standard deviations of training features, and their spread.

        Of all values together where the features are not the same: images of several sizes, few large ones.
        """
        train, held_out = self._training.features, self._validation.features
        together = min(train.rows, held_out.rows) < ENOUGH or train.mean.size != held_out.mean.size
        if together:
            train, held_out = self._training.values, self._validation.values
            if min(self._training.samples, self._validation.samples) < _FEW_SAMPLES:
                return {}
        with np.errstate(all="ignore"):
            varies = train.std > 1e-9 * (1 + np.abs(train.mean))
            if not varies.any():
                return {}
            spread = train.std[varies]
            moved = np.abs(held_out.mean - train.mean)[varies] / spread
            ratio = held_out.std[varies] / spread
        facts = {
            "rows": float(self._validation.samples),
            "together": float(together),
            "shift": float(np.median(moved)),
            "largest_shift": float(moved.max()),
            "spread_ratio": float(np.median(ratio)),
        }
        return {key: value for key, value in facts.items() if np.isfinite(value)}


def _sketch(marks: Values) -> list[str]:
    """The smallest marks of a set: two sets are compared by them without keeping either."""
    return [f"{mark:016x}" for mark in np.unique(marks)[:_SKETCHED].tolist()]


def _known_share(group: dict[str, Any]) -> tuple[float, float]:
    return group["known"] / group["taken"], group["taken"]
