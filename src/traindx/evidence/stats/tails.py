"""The tail of a noise: which of the largest deviations stand apart from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# No gap counts below this factor, however short the tail.
_LEAST = 1.5
# The odds e^-5 that a gap belongs to the tail.
_RARE = 5.0
# Deviations this close together belong to one happening.
_TOGETHER = 9


def largest_apart(deviations: FloatArray, least: float) -> list[float]:
    """The largest deviation of each group above `least`, and the largest below it."""
    above = np.flatnonzero(deviations > least)
    below = float(deviations[deviations <= least].max(initial=0.0))
    if above.size == 0:
        return [below]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(above) > _TOGETHER) + 1])
    return [*np.maximum.reduceat(deviations[above], starts).tolist(), below]


def bar(heights: list[float], deviations: FloatArray, clear: float) -> float:
    """The lowest height with a gap below it; inf when heights thin out gradually as in a heavy tail.

    `clear` is the factor that makes a gap at most; less will do where the ordinary deviations tell
    that their tail is short, or where many heights stand above the gap.
    """
    ranked = np.sort(np.asarray(heights))[::-1]
    max_count = max(3, deviations.size // 15)
    gaps = np.flatnonzero(ranked[:-1] > _LEAST * ranked[1:])
    lowest = math.inf
    for number in gaps[gaps < max_count]:
        below = float(ranked[number + 1])
        weight = _weight(deviations[deviations <= below])
        factor = max(math.exp(min(_RARE * weight / math.sqrt(number + 1.0), 700.0)), _LEAST)
        if ranked[number] > min(factor, clear) * below:
            lowest = float(ranked[number])
    return lowest


def _weight(deviations: FloatArray) -> float:
    """Hill's estimate of how heavy the tail is: inf when too few points tell.

    In a tail of weight w the m-th largest exceeds the next by a factor c with odds c ** (-m / w).
    """
    count = min(deviations.size // 25, 100)
    if count < 8:
        return math.inf
    top = np.sort(np.partition(deviations, -count - 1)[-count - 1 :])
    return float(np.log(top[1:] / top[0]).mean()) if top[0] > 0 else math.inf
