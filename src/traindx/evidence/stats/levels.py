"""Level and noise: where a curve stands, how much it jitters, and whether two stretches differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.scale import ROUNDING, back, dot, normal_from_t, spread, unit

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# The largest z that is told: beyond it only rounding would speak.
Z_CAP = 99.0
# So many points' worth of spread a stretch borrows from both together.
_LENT = 8.0
# Stretches whose means are asked for slow wandering.
_BLOCKS = 20


def noise(values: FloatArray) -> float:
    """Standard deviation of the point-to-point noise; trends, steps and outliers are left aside."""
    if values.size < 3:
        return 0.0
    scaled, exponent = unit(values)
    bends = scaled[2:] - 2.0 * scaled[1:-1] + scaled[:-2]
    return back(spread(bends) / math.sqrt(6.0), exponent)


def autocorrelation(values: FloatArray) -> float:
    """How much a point resembles the one before it, a straight trend left aside: -1 to 1."""
    if values.size < 3:
        return 0.0
    scaled, _ = unit(values)
    return lag_one(without_line(scaled))


def without_line(values: FloatArray) -> FloatArray:
    """What remains when the least-squares line over the indices is taken away."""
    place = np.arange(values.size, dtype=np.float64)
    place -= place.mean()
    residuals: FloatArray = values - values.mean()
    residuals -= place * (dot(place, residuals) / max(dot(place, place), 1.0))
    return residuals


def lag_one(residuals: FloatArray) -> float:
    """Lag-one autocorrelation of values around zero; 0 when they do not vary beyond rounding."""
    power = dot(residuals, residuals)
    if power <= residuals.size * ROUNDING**2:
        return 0.0
    return dot(residuals[1:], residuals[:-1]) / power


def independent_points(correlation: float, points: int, fitted: float) -> float:
    """How many independent points tell as much, after `fitted` numbers were taken from the values.

    The measured correlation of few points comes out too low; the lacking part is added.
    """
    true = (correlation * points + fitted) / max(points - 2.0 - fitted, 1.0)
    true = min(max(true, 0.0), 1.0 - 1.0 / points)
    return points * (1.0 - true) / (1.0 + true)


def worth(residuals: FloatArray, fitted: float) -> float:
    """How many independent points deviations around zero are worth, after `fitted` numbers were taken.

    Slow wandering under strong noise from point to point hardly shows at lag one: with enough points,
    means of stretches are asked too.
    """
    size = residuals.size
    count = independent_points(lag_one(residuals), size, fitted)
    width = size // _BLOCKS
    if width >= 3:
        means = residuals[: width * _BLOCKS].reshape(_BLOCKS, width).mean(axis=1)
        wider = width * dot(means, means) / _BLOCKS / max(dot(residuals, residuals) / size, 1e-300)
        blocks = independent_points(lag_one(means), _BLOCKS, fitted / 2.0)
        count = min(count, size / max(wider * _BLOCKS / blocks, 1e-300))
    return max(count, 1.0)


def level(values: FloatArray) -> tuple[float, float]:
    """The median and its standard error; the error is inf where fewer than two points tell it."""
    if values.size == 0:
        return math.nan, math.inf
    scaled, exponent = unit(values)
    middle = float(np.median(scaled))
    if values.size < 2:
        return back(middle, exponent), math.inf
    residuals = scaled - middle
    error = _median_error(_spread_around(residuals), worth(_tamed(residuals), 1.0))
    return back(middle, exponent), back(error, exponent)


def _spread_around(residuals: FloatArray) -> float:
    """Spread of deviations from their own median, which lies closer to few points than the true level."""
    size = spread(residuals)
    if residuals.size < 12:
        # The median of so few deviations is small by chance too often.
        size = max(size, math.sqrt(math.pi / 2.0) * float(np.abs(residuals).mean()))
    return size * math.sqrt(residuals.size / (residuals.size - 1.0))


def _median_error(size: float, count: float) -> float:
    """Standard error of a median of so many independent points."""
    return math.sqrt(math.pi / 2.0) * size / math.sqrt(count)


def _tamed(residuals: FloatArray) -> FloatArray:
    """Deviations with spikes cut to the ordinary range, lest they hide or feign memory."""
    size = spread(residuals)
    cut: FloatArray = np.clip(residuals, -4.0 * size, 4.0 * size)
    cut -= cut.mean()
    return cut


def significant_rise(before: FloatArray, after: FloatArray) -> float:
    """z of the shift in level from one stretch to the next, positive when it rose; 0 when unknown.

    Spread and memory are learnt from both stretches together as far as one alone has few points.
    """
    if before.size < 2 or after.size < 2:
        return 0.0
    pooled, _ = unit(np.concatenate([before, after]))
    old, new = pooled[: before.size], pooled[before.size :]
    shift = float(np.median(new) - np.median(old))
    if abs(shift) <= ROUNDING:
        return 0.0
    rests = [part - np.median(part) for part in (old, new)]
    common = _spread_around(np.concatenate(rests))
    share = worth(np.concatenate([_tamed(part) for part in rests]), 2.5) / pooled.size
    errors, freedoms = [], []
    for part in rests:
        size = math.sqrt((part.size * _spread_around(part) ** 2 + _LENT * common**2) / (part.size + _LENT))
        count = max(part.size * share, 1.0)
        errors.append(_median_error(size, count))
        freedoms.append(count - 1.0 + min(_LENT, pooled.size * share - 2.0) / 4.0)
    error = math.hypot(*errors)
    if error <= ROUNDING:
        return math.copysign(Z_CAP, shift)
    # Welch: the fewer points the errors rest on, the less a large ratio means.
    parts = sum((e / error) ** 4 / max(f, 0.5) for e, f in zip(errors, freedoms, strict=True))
    return max(-Z_CAP, min(Z_CAP, normal_from_t(shift / error, 1.0 / max(parts, 1e-12))))
