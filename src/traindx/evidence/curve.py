"""One series as the detectors look at it."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.nouns import Axis, Goal, Series
from traindx.evidence import stats
from traindx.evidence.course import Course

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray


class Curve:
    """One series: `x`, `y` are its finite points; coarse shape, noise and levels on demand."""

    def __init__(self, series: Series) -> None:
        self.series = series
        self.name = series.name
        self.goal: Goal = series.goal
        self.axis: Axis = series.axis
        self.finite: BoolArray = np.isfinite(series.values)
        self.x: FloatArray = series.steps[self.finite]
        self.y: FloatArray = series.values[self.finite]

    def __len__(self) -> int:
        """How many finite points."""
        return int(self.y.size)

    @property
    def broken(self) -> int:
        """How many values are NaN or Inf."""
        return int(self.finite.size - self.y.size)

    @cached_property
    def coarse(self) -> stats.Bins:
        """The shape in at most 160 stretches of at least four points: medians, deaf to single spikes.

        Curves of up to 24 points are taken as they are; so are the first points of longer ones, where
        much happens in a few steps.
        """
        if len(self) <= 24:
            return stats.bins(self.x, self.y, len(self))
        alone = 4 if len(self) < 48 else 8
        first = stats.bins(self.x[:alone], self.y[:alone], alone)
        count = min(160 - alone, max(24 - alone, len(self) // 4))
        tail = stats.bins(self.x[alone:], self.y[alone:], count)
        return stats.Bins(
            *(np.concatenate([getattr(first, f.name), getattr(tail, f.name)]) for f in fields(stats.Bins))
        )

    @cached_property
    def noise(self) -> float:
        """Standard deviation of the point-to-point noise, trend and outliers left aside."""
        return stats.noise(self.y)

    @cached_property
    def head(self) -> float:
        """The level it starts from: the median of the first few points, or the first if it leaps up."""
        level = float(np.median(self.y[: max(1, min(3, len(self) // 8))]))
        first = float(self.y[0])
        return first if 0 < first < 0.5 * level else level

    @cached_property
    def tail(self) -> float:
        """The level it ends at: the median of the last tenth."""
        return float(np.median(self.y[-self.tail_points :]))

    @property
    def tail_points(self) -> int:
        return max(1, min(len(self), max(3, len(self) // 10)))

    @cached_property
    def best_at(self) -> int:
        """Which stretch of `coarse` is best by the curve's goal (lowest when it has none)."""
        levels = self.coarse.median
        return int(levels.argmax() if self.goal == "higher" else levels.argmin())

    @property
    def best(self) -> float:
        """The best level it held for a stretch."""
        return float(self.coarse.median[self.best_at])

    @property
    def best_step(self) -> float:
        return float(self.coarse.step[self.best_at])

    @property
    def best_point(self) -> tuple[float, float]:
        """Step and value of its best point: the checkpoint that every report names."""
        return self.series.best_point

    @cached_property
    def spikes(self) -> list[stats.Spike]:
        """Upward excursions beyond the tail of its own noise; places are indices into `x` and `y`."""
        return stats.spikes(self.y, ratio=1.2)

    @cached_property
    def trend(self) -> stats.Trend:
        """The trend over the whole curve."""
        return stats.trend(self.coarse.step, self.coarse.median)

    @cached_property
    def course(self) -> Course:
        """How it went."""
        return Course(self)

    def after(self, step: float) -> FloatArray:
        """Finite values later than a step."""
        return self.y[np.searchsorted(self.x, step, side="right") :]

    def before(self, step: float) -> FloatArray:
        """Finite values at or before a step."""
        return self.y[: np.searchsorted(self.x, step, side="right")]

    def at(self, step: float) -> float:
        """The last value at or before a step; the first one when there is none."""
        return float(self.y[max(0, int(np.searchsorted(self.x, step, side="right")) - 1)])


def shares(curve: Curve | None, *, chance: float | None = None) -> FloatArray | None:
    """A score as shares of one, percent divided by a hundred; None when it is neither.

    Percent may stay below one as well: known where a hundredth of the usual value is what guessing gives.
    """
    if curve is None or not len(curve):
        return None
    low, high = float(curve.y.min()), float(curve.y.max())
    if low < 0 or high > 100.0:
        return None
    guessed = chance is not None and abs(float(np.median(curve.y)) / (100.0 * chance) - 1.0) < 0.35
    return curve.y / 100.0 if high > 1.5 or guessed else curve.y
