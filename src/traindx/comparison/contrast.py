"""Two groups of runs against each other, in the units of the metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray


@dataclass(frozen=True)
class Contrast:
    """The runs of one group against those of another: means of the metric over the runs that did not fail.

    `overlap` counts the runs of both that end between the lowest run of the higher group and the highest run
    of the lower one; `failed` are those of each group that ended in NaN or Inf. A mean over no run is NaN.
    """

    value: str
    other: str
    difference: float
    mean: float
    other_mean: float
    runs: int
    other_runs: int
    overlap: int
    failed: tuple[int, int]


def contrast(
    value: str, chosen: BoolArray, other: str, against: BoolArray, metric: FloatArray
) -> Contrast | None:
    """None when a group is empty or no run of either ended in a number."""
    finite = np.isfinite(metric)
    mine, theirs = metric[chosen & finite], metric[against & finite]
    if not chosen.any() or not against.any() or not (mine.size or theirs.size):
        return None
    mean, other_mean = (float(group.mean()) if group.size else math.nan for group in (mine, theirs))
    overlap = 0
    if mine.size and theirs.size:
        low, high = (mine, theirs) if mean < other_mean else (theirs, mine)
        overlap = int((low >= high.min()).sum() + (high <= low.max()).sum())
    runs, failed = (
        (int((chosen & part).sum()), int((against & part).sum())) for part in (chosen | against, ~finite)
    )
    return Contrast(value, other, mean - other_mean, mean, other_mean, *runs, overlap, failed)
