"""Curves cut into stretches: coarse shapes, thinning for drawing, and two curves on one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.scale import unit

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Bins:
    """A curve in stretches: median step, median, lowest and highest value, number of points."""

    step: FloatArray
    median: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray


def bins(steps: FloatArray, values: FloatArray, count: int) -> Bins:
    """The curve in at most `count` stretches of equally many points; all points when there are fewer."""
    size, count = values.size, max(count, 1)
    if size <= count:
        return Bins(steps.copy(), values.copy(), values.copy(), values.copy(), np.ones(size, dtype=np.int64))
    short, longer = divmod(size, count)
    # The first `longer` stretches hold one point more, so there are two blocks of equal rows.
    cut = longer * (short + 1)
    shapes = [(0, cut, longer, short + 1), (cut, size, count - longer, short)]
    blocks = [(steps[a:b].reshape(r, w), values[a:b].reshape(r, w)) for a, b, r, w in shapes if r]
    return Bins(
        step=np.concatenate([_medians(x) for x, _ in blocks]),
        median=np.concatenate([_medians(y) for _, y in blocks]),
        low=np.concatenate([y.min(axis=1) for _, y in blocks]),
        high=np.concatenate([y.max(axis=1) for _, y in blocks]),
        n=np.concatenate([np.full(y.shape[0], y.shape[1], dtype=np.int64) for _, y in blocks]),
    )


def _medians(rows: FloatArray) -> FloatArray:
    """The median of each row; the mean of two middle values cannot overflow."""
    width = rows.shape[1]
    low, high = (width - 1) // 2, width // 2
    ordered = np.partition(rows, (low, high), axis=1)
    # Halves of the smallest floats vanish: the two values bound their mean.
    middle = 0.5 * ordered[:, low] + 0.5 * ordered[:, high]
    medians: FloatArray = np.clip(middle, ordered[:, low], ordered[:, high])
    return medians


def median_of_three(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """The median of three values, point by point."""
    middle: FloatArray = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
    return middle


def course(y: FloatArray, count: int) -> FloatArray:
    """The smooth level through the medians of stretches; one odd stretch does not bend it."""
    place = np.arange(y.size, dtype=np.float64)
    coarse = bins(place, y, max(count, 2))
    knots = coarse.median
    if knots.size < 2:
        return y.copy()
    if knots.size > 2:
        knots = np.concatenate([knots[:1], median_of_three(knots[:-2], knots[1:-1], knots[2:]), knots[-1:]])
    first, last = knots[0] - (knots[1] - knots[0]) / 2.0, knots[-1] + (knots[-1] - knots[-2]) / 2.0
    marks = np.concatenate([[0.0], coarse.step, [y.size - 1.0]])
    level: FloatArray = np.interp(place, marks, np.concatenate([[first], knots, [last]]))
    return level


def thin(steps: FloatArray, values: FloatArray, limit: int) -> IntArray:
    """Indices to keep for drawing: the ends, and of every stretch the extremes and the first and last
    non-finite value. At most `limit` (6 or more) of them; values may hold NaN and Inf."""
    size = values.size
    if size <= max(limit, 6):
        return np.arange(size, dtype=np.int64)
    finite = np.isfinite(values)
    whole = bool(finite.all())
    count = max((max(limit, 6) - 2) // (2 if whole else 4), 1)
    place = _stretch_of(steps, count)
    chosen = [np.array([0, size - 1], dtype=np.int64)]
    index = np.flatnonzero(finite)
    if index.size:
        chosen += [_lowest(place[index], values[index], index), _lowest(place[index], -values[index], index)]
    odd = np.flatnonzero(~finite)
    if odd.size:
        starts = _starts(place[odd])
        chosen += [odd[starts], odd[np.append(starts[1:], odd.size) - 1]]
    indices: IntArray = np.unique(np.concatenate(chosen)).astype(np.int64)
    return indices


def _stretch_of(steps: FloatArray, count: int) -> IntArray:
    """For each point the stretch of equal width on the axis that it falls into."""
    scaled, _ = unit(steps)
    span = scaled[-1] - scaled[0]
    if not span > 0:
        return np.arange(steps.size, dtype=np.int64) * count // steps.size
    place = ((scaled - scaled[0]) * (count / span)).astype(np.int64)
    clipped: IntArray = np.clip(place, 0, count - 1)
    return clipped


def _starts(place: IntArray) -> IntArray:
    """Where a new stretch begins."""
    starts: IntArray = np.concatenate([[0], np.flatnonzero(np.diff(place)) + 1]).astype(np.int64)
    return starts


def _lowest(place: IntArray, values: FloatArray, index: IntArray) -> IntArray:
    """Of every stretch the index of its lowest value (the first of equals)."""
    starts = _starts(place)
    lengths = np.diff(np.append(starts, place.size))
    lowest = np.repeat(np.minimum.reduceat(values, starts), lengths)
    hits = np.flatnonzero(values == lowest)
    first: IntArray = index[hits[_starts(place[hits])]]
    return first


def align(
    a_steps: FloatArray, a_values: FloatArray, b_steps: FloatArray, b_values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Two curves on the steps of the sparser one: common steps, values of a, values of b.

    The denser curve is averaged from half-way to the step before until half-way to the step after;
    where it has no point there, it is interpolated. Steps outside the other curve are left out.
    """
    if a_steps.size == 0 or b_steps.size == 0:
        nothing = np.empty(0)
        return nothing, nothing.copy(), nothing.copy()
    if _inside(b_steps, a_steps) < _inside(a_steps, b_steps):
        steps, b, a = align(b_steps, b_values, a_steps, a_values)
        return steps, a, b
    steps, a = _one_per_step(a_steps, a_values)
    dense_steps, dense = _one_per_step(b_steps, b_values)
    edges = _edges(steps, dense_steps)
    first, last = np.searchsorted(dense_steps, edges[:-1]), np.searchsorted(dense_steps, edges[1:])
    full = last > first
    around = np.interp(steps, dense_steps, dense)
    around[full] = _means(dense, first[full], last[full])
    inside = full | ((steps >= dense_steps[0]) & (steps <= dense_steps[-1]))
    return steps[inside], a[inside], around[inside]


def _inside(steps: FloatArray, axis: FloatArray) -> int:
    """How many different steps lie within the range of the other axis (all when none does)."""
    within = np.unique(steps[(steps >= axis[0]) & (steps <= axis[-1])]).size
    return int(within or np.unique(steps).size)


def _edges(steps: FloatArray, dense: FloatArray) -> FloatArray:
    """Half-way marks between steps; at both ends as far out as the next mark is in."""
    if steps.size == 1:
        reach = (dense[-1] - dense[0]) / max(dense.size - 1, 1)
        return np.array([steps[0] - reach, np.nextafter(steps[0] + reach, np.inf)])
    marks = 0.5 * steps[:-1] + 0.5 * steps[1:]
    left = steps[0] - (marks[0] - steps[0])
    right = steps[-1] + (steps[-1] - marks[-1])
    return np.concatenate([[left], marks, [np.nextafter(right, np.inf)]])


def _one_per_step(steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values of equal steps averaged."""
    starts = np.concatenate([[0], np.flatnonzero(np.diff(steps)) + 1]).astype(np.int64)
    if starts.size == steps.size:
        return steps, values
    return steps[starts], _means(values, starts, np.append(starts[1:], steps.size))


def _means(values: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """The mean of values[first:last] for each pair; stretches follow one another without overlap."""
    scaled, exponent = unit(values)
    marks = np.column_stack([first, last]).ravel()
    padded = np.append(scaled, 0.0)
    sums = np.add.reduceat(padded, marks)[::2]
    means: FloatArray = np.ldexp(sums / (last - first), exponent)
    return means
