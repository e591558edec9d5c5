"""Two arms compared step by step: they share seeds and batches, so most noise cancels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats import level, significant_rise

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_WINDOW_LEAST, _WINDOW_MOST = 10, 100
_STILL = 0.01


@dataclass(frozen=True)
class ArmDifference:
    """Two losses at their last common steps; `gap` is the other's minus the first's, `error` its own.

    `above` is the share of these steps at which the other's is the higher one.
    """

    steps: int
    first: float
    other: float
    gap: float
    error: float
    above: float

    @property
    def z(self) -> float:
        if self.error > 0:
            return self.gap / self.error
        return 0.0 if self.gap == 0 else float(np.copysign(99.0, self.gap))

    @property
    def share(self) -> float:
        """The gap as a share of the first's own size."""
        return self.gap / max(abs(self.first), 1e-12)


def arm_difference(first: FloatArray, other: FloatArray) -> ArmDifference | None:
    """None with too few common steps. A loss that broke counts as worse than any other."""
    steps = min(first.size, other.size)
    if steps < 2 * _WINDOW_LEAST:
        return None
    window = min(_WINDOW_MOST, max(_WINDOW_LEAST, steps // 3))
    a, b = first[steps - window : steps], other[steps - window : steps]
    if not np.isfinite(a).all():
        return None
    if not np.isfinite(b).all():
        return ArmDifference(steps, float(np.median(a)), float("inf"), float("inf"), 1.0, 1.0)
    gap, error = level(b - a)
    return ArmDifference(steps, float(np.median(a)), float(np.median(b)), gap, error, float((b > a).mean()))


def start_and_end(loss: FloatArray) -> tuple[float, float]:
    """The loss of the first step, and its level in the last tenth."""
    window = max(3, min(50, loss.size // 10))
    return float(loss[0]), float(np.median(loss[-window:]))


def still_falling(loss: FloatArray) -> bool:
    """Whether the second half ends clearly lower than it began: by noise, and by a part of the whole fall."""
    half = loss[loss.size // 2 :]
    if half.size < 8:
        return True
    third = half.size // 3
    early, late = half[:third], half[-third:]
    fall = float(np.median(early) - np.median(late))
    size = max(abs(float(loss[0]) - float(np.median(late))), abs(float(np.median(early))), 1e-12)
    return significant_rise(early, late) < -2.0 and fall > _STILL * size
