"""What follows from what a log holds: totals it does not write, NaN that its writer hid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from traindx.core.nouns import Event, Series
from traindx.logs.log import Column

_DETECTION_TERMS = frozenset({"box", "cls", "dfl", "obj", "seg", "pose", "kobj", "angle"})


def detection_totals(columns: Sequence[Column]) -> list[Column]:
    """The training objective of a YOLO, which logs only its (already weighted) terms: their sum."""
    totals: list[Column] = []
    for front, total in (("train/", "loss"), ("val/", "val/loss")):
        terms = [
            column
            for column in columns
            if column.name.startswith(front)
            and column.name.removeprefix(front).removesuffix("_loss") in _DETECTION_TERMS
        ]
        kinds = {column.name.removeprefix(front).removesuffix("_loss") for column in terms}
        if not {"box", "cls"} <= kinds:
            continue
        if any(column.name in (total, f"{front}loss") for column in columns):
            continue
        steps = terms[0].steps
        for column in terms[1:]:
            steps = steps[np.isin(steps, column.steps)]
        parts = [column.values[np.isin(column.steps, steps)] for column in terms]
        if steps.size and all(part.size == steps.size for part in parts):
            made = " + ".join(column.name for column in terms)
            totals.append(Column(total, steps, np.sum(parts, axis=0), derived=made))
    return totals


def hidden_nans(series: Mapping[str, Series]) -> list[Event]:
    """Loss exactly 0 where the gradient norm is not finite: a NaN that the Trainer hid."""
    loss, norm = series.get("loss"), series.get("grad_norm")
    if loss is None or norm is None or not len(loss) or not len(norm):
        return []
    zero, broken = loss.steps[loss.values == 0.0], norm.steps[~np.isfinite(norm.values)]
    hidden = zero[np.isin(zero, broken)] if zero.size and broken.size else zero[:0]
    if not hidden.size:
        return []
    return [
        Event(
            "nan_filter",
            f"{hidden.size} logged losses are exactly 0.0 where grad_norm is not finite: "
            "the logger replaced NaN losses by 0",
            float(hidden[0]),
        )
    ]
