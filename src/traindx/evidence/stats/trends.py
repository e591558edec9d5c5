"""Trend: which way a curve goes, how fast, and whether chance could have done it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.levels import Z_CAP, worth
from traindx.evidence.stats.scale import ROUNDING, back, dot, normal_from_t, two_sided, unit
from traindx.evidence.stats.stretches import bins

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_STRETCHES = 300
# Numbers a shape takes from the points: level, slope, bend, and the choice of the kind.
_FITTED = 4.0
# From so many points on a course may have a line besides its shape.
_MANY = 30
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Trend:
    """Slope per step with its 95 % interval; z and two-sided p; change from the first to the last step."""

    slope: float
    low: float
    high: float
    z: float
    p: float
    change: float
    n_effective: float


def trend(steps: FloatArray, values: FloatArray) -> Trend:
    """Theil-Sen slope; Mann-Kendall significance, corrected for the memory of what the trend leaves."""
    shape = bins(steps, values, _STRETCHES)
    x, x_exponent = unit(shape.step)
    y, y_exponent = unit(shape.median)
    size = y.size
    if size < 3 or not x[-1] - x[0] > ROUNDING * float(np.abs(x).max()):
        return Trend(math.nan, math.nan, math.nan, 0.0, 1.0, 0.0, float(size))
    early, late = np.triu_indices(size, 1)
    run, rise = x[late] - x[early], y[late] - y[early]
    # Steps that differ by rounding only have no slope between them.
    apart = run > ROUNDING * float(x[-1] - x[0])
    slopes = np.sort(rise[apart] / run[apart])
    slope = float(np.median(slopes))
    score = float(np.sign(rise[apart]).sum())
    course = _best_course(x, y)
    count = worth(course.residuals, course.fitted)
    variance = _variance(x, y)
    z = _z(score, math.sqrt(variance * size / count), count if count < size else math.inf)
    walk = _walk_z(course.unexplained, size) if course.one_way else 0.0
    if walk > abs(z) and score:
        z = math.copysign(walk, score)
    low, high = _interval(slopes, _Z95 * max(abs(score) / abs(z) if z else 0.0, math.sqrt(variance)))
    scale = y_exponent - x_exponent
    return Trend(
        slope=back(slope, scale),
        low=back(low, scale),
        high=back(high, scale),
        z=z,
        p=two_sided(z),
        change=back(slope * float(x[-1] - x[0]), y_exponent),
        n_effective=count,
    )


def _variance(x: FloatArray, y: FloatArray) -> float:
    """Variance of Kendall's score for independent values, ties in steps and values counted."""
    size = y.size
    ties = [np.unique(axis, return_counts=True)[1].astype(np.float64) for axis in (x, y)]
    whole = size * (size - 1.0) * (2.0 * size + 5.0)
    first = [float((t * (t - 1) * (2 * t + 5)).sum()) for t in ties]
    second = [float((t * (t - 1) * (t - 2)).sum()) for t in ties]
    pairs = [float((t * (t - 1)).sum()) for t in ties]
    variance = (whole - sum(first)) / 18.0
    variance += second[0] * second[1] / (9.0 * size * (size - 1.0) * max(size - 2.0, 1.0))
    variance += pairs[0] * pairs[1] / (2.0 * size * (size - 1.0))
    return max(variance, 0.0)


@dataclass(frozen=True)
class _Course:
    """The smooth course of a curve: what it leaves, as share of the variance too, whether it goes one
    way, and how many numbers it took from the points."""

    residuals: FloatArray
    unexplained: float
    one_way: bool
    fitted: float


def _best_course(x: FloatArray, y: FloatArray) -> _Course:
    """The course that leaves least; of many positive points the logarithms are tried too."""
    plain = _course(x, y)
    if y.size < _MANY or y.min() <= 0:
        return plain
    return min(plain, _course(x, np.log(y)), key=lambda course: course.unexplained)


def _course(x: FloatArray, y: FloatArray) -> _Course:
    """The best of some shapes of trainings: line, exponentials, power laws; of many points, with a line."""
    u = (x - x[0]) / (x[-1] - x[0])
    bends = np.outer((-6.0, -3.0, -1.5, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 120.0, 300.0), u)
    roots, inverses = np.outer((30.0, 300.0, 3000.0), u), np.outer((10.0, 300.0), u)
    shapes = np.concatenate([u[None, :], np.exp(-bends), (1.0 + roots) ** -0.5, 1.0 / (1.0 + inverses)])
    shapes -= shapes.mean(axis=1)[:, None]
    off = y - y.mean()
    residuals = off
    if y.size >= _MANY:
        line, shapes = shapes[0], shapes[1:]
        residuals = off - line * (dot(line, off) / dot(line, line))
        shapes = shapes - line * ((shapes * line).sum(axis=1) / dot(line, line))[:, None]
    power = np.maximum((shapes * shapes).sum(axis=1), 1e-300)
    slopes = (shapes * residuals).sum(axis=1) / power
    best = int((slopes * slopes * power).argmax())
    residuals = residuals - slopes[best] * shapes[best]
    way = off - residuals
    return _Course(
        residuals=residuals,
        unexplained=dot(residuals, residuals) / max(dot(off, off), 1e-300),
        one_way=bool(abs(way[-1] - way[0]) >= 0.8 * (way.max() - way.min())),
        fitted=_FITTED + (y.size >= _MANY),
    )


def _z(score: float, deviation: float, freedom: float) -> float:
    """Kendall's score in its own standard deviations."""
    if deviation <= 0 or not score:
        return 0.0
    z = (score - math.copysign(1.0, score)) / deviation
    z = normal_from_t(z, freedom) if math.isfinite(freedom) else z
    return max(-Z_CAP, min(Z_CAP, z))


def _walk_z(share: float, size: int) -> float:
    """z of a shape that leaves only this share of the variance, if the curve were a random walk.

    Correcting for memory alone would find nothing in a clear fall of slightly another shape, whose
    residuals are smooth. The odds are fitted to simulated walks: tests compare them.
    """
    if size >= _MANY:
        odds = -1.1 - 0.1 / max(share, 1e-3)
    else:
        odds = -1.2 - 0.14 / max(share, 1e-3)
        if size < 20:
            odds = max(odds, 0.6 + 1.55 * (size - 5.0) + (size - 3.0) / 2.0 * math.log(max(share, 1e-30)))
    # Two tests are made: each has half of the odds.
    p = 2.0 * math.exp(max(odds, -30.0))
    return -NormalDist().inv_cdf(p / 2.0) if p < 1.0 else 0.0


def _interval(slopes: FloatArray, reach: float) -> tuple[float, float]:
    """The slopes so many ranks around the middle."""
    low = round((slopes.size - reach) / 2.0) - 1
    high = round((slopes.size + reach) / 2.0)
    return float(slopes[max(low, 0)]), float(slopes[min(high, slopes.size - 1)])
