"""How the values of some activations are spread: in the first sample, and in the latest.

Counting costs more than the other statistics, so it is done at the samples 1, 2, 4, 8, ... and at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from traindx.observe.arrays import Values

if TYPE_CHECKING:
    from traindx.observe.torch.activation_probe import ActivationProbe

_BINS = 16
_VALUES = 512
_ACTIVATIONS = 40
_REACH = 4.0


class Histograms:
    """The facts `histograms` of a training: for each activation its first and its latest sample."""

    def __init__(self, probe: ActivationProbe) -> None:
        self._probe = probe
        self._samples = 0
        self._step = 0
        self._counted = 0
        self._first: dict[str, dict[str, object]] = {}
        self._last: dict[str, dict[str, object]] = {}

    def sampled(self, step: int) -> list[dict[str, object]] | None:
        """A sample was taken; gives all histograms when it was counted."""
        if step < self._step:  # another training in the same process
            self._samples, self._first, self._last = 0, {}, {}
        self._samples += 1
        self._step = step
        return self.count() if self._samples & (self._samples - 1) == 0 else None

    def end(self) -> list[dict[str, object]] | None:
        """The histograms of the last sample, unless they were given already."""
        return self.count() if self._samples and self._counted != self._samples else None

    def count(self) -> list[dict[str, object]]:
        self._counted = self._samples
        samples = self._probe.samples(_ACTIVATIONS, _VALUES)
        for (name, _), spread in zip(samples, spreads([values for _, values in samples]), strict=True):
            entry = {"name": name, "step": self._step, **spread}
            self._first.setdefault(name, entry)
            self._last[name] = entry
        pairs = [(self._first[name], self._last[name]) for name in self._last]
        return [entry for first, last in pairs for entry in ([first, last] if first is not last else [first])]


def spreads(samples: Sequence[Values]) -> list[dict[str, object]]:
    """Counts of each sample between its `low` and `high`; what lies beyond them is in the outer bins.

    All samples at once: a histogram of each would take twenty times as long.
    """
    if not samples:
        return []
    table = np.full((len(samples), max(map(len, samples))), np.nan)
    for row, values in zip(table, samples, strict=True):
        row[: values.size] = values
    good = np.isfinite(table)
    finite_counts = np.maximum(good.sum(axis=1), 1)
    with np.errstate(all="ignore"):
        mean = np.where(good, table, 0.0).sum(axis=1) / finite_counts
        apart = np.where(good, table - mean[:, None], 0.0)
        reach = _REACH * np.sqrt(np.square(apart).sum(axis=1) / finite_counts)
        low = np.maximum(np.where(good, table, np.inf).min(axis=1), mean - reach)
        high = np.minimum(np.where(good, table, -np.inf).max(axis=1), mean + reach)
        width = np.where(high > low, high - low, 1.0)
        bins = ((table - low[:, None]) * (_BINS / width)[:, None]).clip(0, _BINS - 1)
    places = np.where(good, bins, 0).astype(np.intp) + _BINS * np.arange(len(samples))[:, None]
    counts = np.bincount(places[good], minlength=_BINS * len(samples)).reshape(-1, _BINS).tolist()
    return [
        {"low": _rounded(start), "high": _rounded(end), "counts": row, "nonfinite": values.size - sum(row)}
        for start, end, row, values in zip(low.tolist(), high.tolist(), counts, samples, strict=True)
    ]


def _rounded(value: float) -> float:
    return float(f"{value:.5g}") if isfinite(value) else 0.0
