"""Values that repeat to the last digit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Skipped
from traindx.evidence import stats
from traindx.evidence.case import Case, Curve
from traindx.evidence.validation import steps_on

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_MOST_DECIMALS = 12


def frozen_from(values: FloatArray) -> int:
    """The index from which on all values are the last one; the last index when nothing repeats."""
    last = float(values[-1])
    differs = np.flatnonzero(np.abs(values - last) > 1e-9 * abs(last))
    return int(differs[-1]) + 1 if differs.size else 0


def significant_digits(values: FloatArray) -> int:
    """With how many significant digits the last value is told, judged by all of them."""
    last = abs(float(values[-1]))
    sample = values[-2000:]
    for decimals in range(_MOST_DECIMALS):
        if np.allclose(np.round(sample, decimals), sample, rtol=1e-12, atol=0):
            return len(str(int(last * 10**decimals))) if last * 10**decimals >= 1 else 0
    return _MOST_DECIMALS


def moved(values: FloatArray, *, share: float, z: float) -> bool:
    """Whether the level changed between the first and the last third: by a share and beyond noise."""
    third = max(2, values.size // 3)
    if values.size < 4:
        return False
    first, last = values[:third], values[-third:]
    change = float(np.median(last) - np.median(first))
    size = abs(float(np.median(first))) or 1.0
    error = 1.25 * stats.noise(values) * float(np.sqrt(2.0 / third))
    return abs(change) > share * size and abs(change) > z * error


def standing(
    case: Case, *, points: int, digits: int, change: float, z: float
) -> tuple[Curve, int, int] | Skipped | None:
    """A validation loss that repeats at its end while the training loss stays level.

    The curve, the index from which on it repeats, and how often it does.
    """
    train, val = case.loss, case.val_loss
    if train is None or val is None or len(val) < points or len(train) < points:
        return Skipped(f"a training loss and at least {points} evaluations")
    if significant_digits(val.y) < digits or val.y[-1] == 0:
        return Skipped(f"a validation loss logged with at least {digits} digits")
    first = frozen_from(val.y)
    if len(val) - first < points:
        return None
    begin = float(steps_on(val, train)[first])
    return None if moved(train.y[train.x >= begin], share=change, z=z) else (val, first, len(val) - first)
