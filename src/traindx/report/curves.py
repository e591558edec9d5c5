"""Curves prepared for drawing: thinned, smoothed, clipped to the range of an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.core.names import parts

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray, IntArray

POINTS_MOST = 3000
_SMOOTH_POINTS = 400
_SMOOTH_FROM = 24
_BLOCKS = 8000
_LOG_FROM = 50.0
_LARGEST = 1e150
_FLAT = 0.005


def thinned(steps: FloatArray, values: FloatArray, limit: int = POINTS_MOST) -> tuple[FloatArray, FloatArray]:
    """Fewer points that look the same: no spike and no gap is lost."""
    if values.size <= limit:
        return steps, values
    from traindx.evidence.stats import thin

    places = thin(steps, values, limit)
    return steps[places], values[places]


def evenly(count: int, limit: int) -> IntArray:
    """At most so many places among `count`, evenly spaced, the first and the last among them."""
    places: IntArray = np.unique(np.linspace(0, count - 1, min(count, limit)).astype(int))
    return places


def moving_average(steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, int] | None:
    """Steps, means and window (in points); each mean leaves out the upper and lower quarter of its window.

    Without them one spike would lift the line as long as the window is. None when points are too few.
    """
    finite = np.isfinite(values)
    x, y = steps[finite], drawable(values[finite])
    if y.size < _SMOOTH_FROM:
        return None
    per = -(-y.size // _BLOCKS)
    if per > 1:  # windows over a million points: blocks first
        whole = y.size // per * per
        x, y = x[:whole].reshape(-1, per).mean(axis=1), np.median(y[:whole].reshape(-1, per), axis=1)
    half = max(2, min(y.size // 30, 250))
    centres = evenly(y.size, _SMOOTH_POINTS)
    means = np.empty(centres.size)
    for number, at in enumerate(centres.tolist()):
        # Windows shrink towards the steep beginning; at the end half a window still holds the noise down.
        reach = min(half, at, max(y.size - 1 - at, half // 2))
        window = np.sort(y[at - reach : at + reach + 1])
        cut = window.size // 4
        means[number] = window[cut : window.size - cut].mean()
    return x[centres], means, (2 * half + 1) * per


def drawable(values: FloatArray) -> FloatArray:
    """NaN for what is not finite; axes cannot span what is near the ends of the number range either."""
    drawn: FloatArray = np.where(np.isfinite(values), np.clip(values, -_LARGEST, _LARGEST), np.nan)
    drawn[np.abs(drawn) < 1 / _LARGEST] = 0.0
    return drawn


def wants_log(metric: str, values: FloatArray) -> bool:
    """A learning rate is read on a linear scale: its schedule has a shape. Gradients never are."""
    if not values.size or values.min() <= 0 or parts(metric).metric == "lr":
        return False
    from_ratio = 3.0 if parts(metric).metric == "grad_norm" else _LOG_FROM
    return bool(values.max() > from_ratio * values.min())


def limits(values: FloatArray, *, logarithmic: bool) -> tuple[float, float] | None:
    """Where an axis begins and ends: room above and below, and what hardly changes looks flat.

    None when there are no two different values: the axis may choose for itself.
    """
    if values.size < 2 or values.min() == values.max():
        return None
    low, high = float(values.min()), float(values.max())
    if logarithmic:
        room = (high / low) ** 0.1
        return low / room, high * room
    room = max(0.1 * (high - low), _FLAT * max(abs(low), abs(high)))
    return low - room, high + room


def broken_steps(steps: FloatArray, values: FloatArray, most: int = 200) -> FloatArray:
    """Where a curve is NaN or Inf: the first, the last and evenly between."""
    broken = steps[~np.isfinite(values)]
    chosen: FloatArray = broken[evenly(broken.size, most)]
    return chosen


def value_at(steps: FloatArray, values: FloatArray, step: float) -> float:
    """The value logged nearest to a step; of equally near ones that which is not finite, or the largest."""
    after = int(np.searchsorted(steps, step))
    near = range(max(0, after - 1), min(steps.size, after + 2))
    least = min(abs(steps[i] - step) for i in near)
    nearest = [float(values[i]) for i in near if abs(steps[i] - step) == least]
    return next((value for value in nearest if not np.isfinite(value)), max(nearest))
