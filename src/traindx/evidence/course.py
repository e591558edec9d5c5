"""The course of a curve: whether it came down, where it stands, how it ends; measured once.

Written for a loss; of a curve whose goal is higher the negated values are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence import stats

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray
    from traindx.evidence.curve import Curve

# Within this share of the whole fall of its last level a curve counts as having arrived there.
_ARRIVED = 0.05
# From so many points on a curve shows whether it falls as a ramp or after a standstill.
_SHAPED = 50


@dataclass(frozen=True)
class Ends:
    """`fall` from the first to the last tenth, its share of the start, and its significance.

    `resolution` is the smallest fall between the outer thirds, as a share of the start, that noise would
    let be seen; `deepest` the share of the start that the lowest tenth lies below it.
    """

    head: float
    tail: float
    fall: float
    share: float
    z: float
    deepest: float
    resolution: float


@dataclass(frozen=True)
class Standstill:
    """The last part of a run in which the curve gained nothing: its first step, level, share of the run."""

    since: float
    level: float
    share: float


class Course:
    """How one curve went."""

    def __init__(self, curve: Curve) -> None:
        self._curve = curve

    def came_down(self, *, share: float = 0.1, noises: float = 6.0, points: int = 6) -> bool:
        """Whether a finite curve fell by a tenth of its start and by far more than its noise."""
        curve = self._curve
        if curve.broken or len(curve) < points:
            return False
        return curve.head - curve.tail > max(share * abs(curve.head), noises * curve.noise)

    def improved(self, *, share: float = 0.04, few: int = 6) -> bool:
        """Whether it ends better than it began by a share of its start, and by more than the noise of both
        ends; of a few points that get better one by one the noise is not known."""
        curve, sign = self._curve, -1.0 if self._curve.goal == "higher" else 1.0
        width = max(1, min(3, len(curve) // 8))
        error = 1.25 * curve.noise * float(np.sqrt(1.0 / width + 1.0 / curve.tail_points))
        steadily = len(curve) < few and bool((sign * np.diff(curve.y) < 0).all())
        gain = sign * (curve.head - curve.tail)
        return gain > max(share * abs(curve.head), 0.0 if steadily else 2.0 * error)

    @cached_property
    def ends(self) -> Ends:
        """The ends of a curve of at least three points compared."""
        curve = self._curve
        count = max(2, len(curve) // 10)
        first, last = curve.y[:count], curve.y[-count:]
        head, tail = float(np.median(first)), float(np.median(last))
        size = abs(head) or 1.0
        fall = head - tail
        spread = curve.noise * float(np.sqrt(2.0 * 1.57 / max(1, len(curve) // 3)))
        tenths = np.array_split(curve.y, min(10, max(3, len(curve) // 3)))
        deepest = head - min(float(np.median(part)) for part in tenths)
        z = stats.significant_rise(last, first)
        return Ends(head, tail, fall, fall / size, z, deepest / size, 3 * spread / size)

    @property
    def starts_late(self) -> bool:
        """Whether the log begins in the middle of a training: resumed, or its start is not there."""
        curve = self._curve
        first, last = float(curve.x[0]), float(curve.x[-1])
        return curve.axis != "row" and first > 0.3 * last and first > 10 and len(curve) > 3

    def still_falls(self, *, share: float = 0.05) -> bool:
        """Whether it fell by a twentieth over its last third, and by more than its noise."""
        if len(self._curve) < 12:
            return False
        return self.late_fall > share and self.late_fall_z > 2.5

    @property
    def late_fall(self) -> float:
        """By which share it falls between the halves of its last third."""
        earlier, later = self._late_halves
        level = abs(float(np.median(earlier)))
        return float(np.median(earlier) - np.median(later)) / level if level > 0 else 0.0

    @property
    def late_fall_z(self) -> float:
        """The same fall in standard errors of the two medians."""
        earlier, later = self._late_halves
        error = 1.25 * self._curve.noise * float(np.sqrt(4.0 / (earlier.size + later.size)))
        fall = float(np.median(earlier) - np.median(later))
        return fall / error if error > 0 else 99.0 * float(np.sign(fall))

    @property
    def _late_halves(self) -> tuple[FloatArray, FloatArray]:
        curve = self._curve
        earlier, later = np.array_split(curve.y[-max(4, len(curve) // 3) :], 2)
        return earlier, later

    def held_up(self, *, share: float = 0.2, fallen: float = 0.1) -> bool:
        """Whether it stood still for the first part of the run although it could fall later."""
        curve = self._curve
        if len(curve) < _SHAPED or not self.came_down():
            return False
        part = curve.y[int(0.75 * share * len(curve)) : int(1.25 * share * len(curve)) + 1]
        return curve.head - float(np.median(part)) < fallen * (curve.head - curve.tail)

    def ramps(self, *, bend: float = 0.6) -> bool:
        """Whether it falls like a ramp: in its second half nearly as much as in its first."""
        curve = self._curve
        if len(curve) < _SHAPED or not self.came_down(noises=2.0):
            return False
        middle = float(np.median(curve.y[int(0.45 * len(curve)) : int(0.55 * len(curve))]))
        return middle - curve.tail >= bend * (curve.head - middle)

    def standstill(self, *, max_gain: float = 0.005, min_share: float = 0.4) -> Standstill | None:
        """The last part of the run without a gain beyond `max_gain` of the level or the noise.

        None where it is shorter than `min_share` of the run. It begins where a person would put it: where
        the curve first came to its last level, to within a twentieth of its fall.
        """
        steps, levels = self._lowered
        flat = self._flat_from(steps, levels, max_gain, min_share)
        if flat is None:
            return None
        level = float(np.median(levels[flat:]))
        noise = self._curve.noise / np.sqrt(max(1.0, len(self._curve) / levels.size))
        reach = max(_ARRIVED * abs(float(levels[0]) - level), noise)
        since = int(np.argmax(levels <= level + reach)) if levels[0] > level + reach else flat
        since = since if bool((levels[since:] <= level + 4 * reach).mean() > 0.9) else flat
        span = float(steps[-1] - steps[0]) or 1.0
        sign = -1.0 if self._curve.goal == "higher" else 1.0
        return Standstill(float(steps[since]), sign * level, float(steps[-1] - steps[since]) / span)

    @property
    def _lowered(self) -> tuple[FloatArray, FloatArray]:
        coarse = self._curve.coarse
        return coarse.step, -coarse.median if self._curve.goal == "higher" else coarse.median

    def _flat_from(
        self, steps: FloatArray, levels: FloatArray, max_gain: float, min_share: float
    ) -> int | None:
        """The earliest stretch from which the rest is flat, if that rest is long enough."""
        least = max_gain * abs(self._curve.tail)
        noise = self._curve.noise / np.sqrt(max(1.0, len(self._curve) / levels.size))
        for cut in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6):
            if 1 - cut < min_share:
                return None
            at = int(np.searchsorted(steps, steps[0] + cut * (steps[-1] - steps[0])))
            tail = levels[at:]
            if tail.size < 8:
                return None
            trend = stats.trend(steps[at:], tail)
            third = max(2, tail.size // 3)
            drop = float(np.median(tail[:third]) - np.median(tail[-third:]))
            still = trend.p > 0.01 or -trend.change < least
            if still and drop < max(least, 2 * noise / np.sqrt(third)) and drop > -max(4 * least, 3 * noise):
                return at
        return None
