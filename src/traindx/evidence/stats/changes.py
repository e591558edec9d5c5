"""Changes: where the level shifts, and where a curve turns."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.levels import noise
from traindx.evidence.stats.scale import ROUNDING, dot, unit
from traindx.evidence.stats.stretches import bins

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_STRETCHES = 300
# More memory than this cannot be told from a trend.
_MOST_MEMORY = 0.95
_BLOCK = 8


@dataclass(frozen=True)
class Piece:
    """A stretch that goes one way: first and last index, change from one to the other."""

    start: int
    end: int
    change: float


def change_points(values: FloatArray, *, penalty: float = 4.0) -> list[int]:
    """Indices at which a new level begins: the partition of least cost.

    The cost is the squared distance to each level in units of the noise, plus `penalty` times the
    logarithm of the number of points for each change. A level lasts at least two points. Of a curve
    with many points, stretches of equally many are compared.
    """
    if values.size < 4:
        return []
    scaled, _ = unit(values)
    place = np.arange(values.size, dtype=np.float64)
    shape = bins(place, scaled, _STRETCHES)
    y = shape.median
    size = max(_wander(y), ROUNDING)
    # A single point between others is an outlier, not a level.
    left, right = np.concatenate([y[1:2], y[:-1]]), np.concatenate([y[1:], y[-2:-1]])
    y = np.clip(y, np.minimum(left, right) - size, np.maximum(left, right) + size)
    price = penalty * math.log(y.size) * (1.0 + 6.0 / y.size)
    starts = np.insert(np.cumsum(shape.n), 0, 0)
    return [int(starts[at]) for at in _partition(y / size, price)]


def _wander(y: FloatArray) -> float:
    """The noise as means of several points feel it: larger than from point to point if it has memory."""
    step = max(_deviation(np.diff(y), 4), noise(y))
    lag = min(max(y.size // 8, 2), 8)
    if step <= ROUNDING or y.size < 3 * lag:
        return step
    apart = y[lag:] - y[:-lag]
    far = _deviation(apart - np.median(apart), 2 * lag)
    # For noise with memory m: (step / far)^2 = (1 - m) / (1 - m^lag).
    memories = np.linspace(0.0, _MOST_MEMORY, 60)
    ratios = (1.0 - memories) / (1.0 - memories**lag)
    memory = float(np.interp(-((step / max(far, step)) ** 2), -ratios, memories))
    size = step * math.sqrt((1.0 + memory) / (1.0 - memory) / (1.0 - memory))
    blocks = y.size // _BLOCK
    if blocks < 10:
        return size
    # Slow wandering under strong noise hardly shows from point to point, but in means of stretches.
    moves = np.diff(y[: blocks * _BLOCK].reshape(blocks, _BLOCK).mean(axis=1))
    return max(size, math.sqrt(_BLOCK) * _deviation(moves - np.median(moves), 4))


def _deviation(moves: FloatArray, changes: int) -> float:
    """Standard deviation behind differences, the largest left aside: a twentieth, or what `changes` are.

    Not the median: of skewed or rounded values it would tell far too little.
    """
    share = min(max(0.05, changes / moves.size), 0.35)
    ordinary = np.sort(np.abs(moves))[: max(round((1.0 - share) * moves.size), 1)]
    normal = NormalDist()
    edge = normal.inv_cdf(1.0 - share / 2.0)
    lost = 2.0 * edge * normal.pdf(edge) / (1.0 - share)
    return math.sqrt(dot(ordinary, ordinary) / ordinary.size / 2.0 / (1.0 - lost))


def _partition(y: FloatArray, price: float) -> list[int]:
    """Optimal partitioning with segments of at least two points, O(n^2) in vectorised rows."""
    size = y.size
    y = y - y.mean()
    sums = np.insert(np.cumsum(y), 0, 0.0)
    squares = np.insert(np.cumsum(y * y), 0, 0.0)
    best = np.full(size + 1, np.inf)
    best[0] = -price
    previous = np.zeros(size + 1, dtype=np.int64)
    lengths = np.arange(size, 0, -1, dtype=np.float64)
    for end in range(2, size + 1):
        n = lengths[size - end : size - 1]
        gap = sums[end] - sums[: end - 1]
        cost = best[: end - 1] + squares[end] - squares[: end - 1] - gap * gap / n + price
        at = int(cost.argmin())
        best[end], previous[end] = cost[at], at
    starts = []
    at = int(previous[size])
    while at > 0:
        starts.append(at)
        at = int(previous[at])
    return starts[::-1]


def monotone_pieces(values: FloatArray, *, threshold: float) -> list[Piece]:
    """The curve as a zigzag: a turn counts when the way back exceeds `threshold`.

    Each piece ends where the next begins; together they cover the curve.
    """
    if values.size < 2:
        return []
    turns = _turns(values.tolist(), threshold)
    ends = [0, *turns, values.size - 1]
    return [Piece(a, b, float(values[b]) - float(values[a])) for a, b in itertools.pairwise(ends) if b > a]


def _turns(points: list[float], threshold: float) -> list[int]:
    """Indices of the extremes at which the curve turns."""
    turns = []
    way = low = high = 0
    bottom = top = points[0]
    for i, value in enumerate(points):
        if value > top:
            high, top = i, value
        elif value < bottom:
            low, bottom = i, value
        if way >= 0 and top - value > threshold:
            if way:
                turns.append(high)
            way, low, bottom = -1, i, value
        elif way <= 0 and value - bottom > threshold:
            if way:
                turns.append(low)
            way, high, top = 1, i, value
    return turns
