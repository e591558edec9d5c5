"""Valleys: the curve that only falls and then only rises, closest to noisy points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray


@dataclass(frozen=True, eq=False)
class Valley:
    """The fitted levels; `first` and `last` are the ends of its lowest stretch."""

    levels: FloatArray
    first: int
    last: int

    @property
    def bottom(self) -> float:
        return float(self.levels[self.first])


def valley(values: FloatArray, weights: FloatArray | None = None) -> Valley:
    """Least squares under one condition: down to a lowest stretch, up from there.

    No window is chosen: how far neighbours are averaged follows from how much they contradict the shape.
    """
    if not values.size:
        raise ValueError("a valley needs at least one value")
    weight = np.ones(values.size) if weights is None else weights
    down = _costs(-values, weight)
    up = _costs(-values[::-1], weight[::-1])[::-1]
    split = int(np.argmin(down[1:] + up[1:]))
    # The falling part ends with the split, the rising part begins after it.
    left = -_rising(-values[: split + 1], weight[: split + 1])
    right = _rising(values[split + 1 :], weight[split + 1 :])
    levels = np.concatenate([left, right])
    low = float(levels.min())
    lowest = np.flatnonzero(levels == low)
    return Valley(levels, int(lowest[0]), int(lowest[-1]))


def _costs(values: FloatArray, weight: FloatArray) -> FloatArray:
    """For each number of leading points: the squared distance of their best rising fit."""
    costs = np.zeros(values.size + 1)
    blocks: list[tuple[float, float, float]] = []
    total = 0.0
    for at, (value, heft) in enumerate(zip(values.tolist(), weight.tolist(), strict=True)):
        mean, mass, cost = value, heft, 0.0
        while blocks and blocks[-1][0] >= mean:
            previous, its_mass, its_cost = blocks.pop()
            total -= its_cost
            merged = mass + its_mass
            cost += its_cost + mass * its_mass / merged * (mean - previous) ** 2
            mean, mass = (mean * mass + previous * its_mass) / merged, merged
        blocks.append((mean, mass, cost))
        total += cost
        costs[at + 1] = total
    return costs


def _rising(values: FloatArray, weight: FloatArray) -> FloatArray:
    """The closest curve that never falls: neighbours that contradict are averaged."""
    blocks: list[tuple[float, float, int]] = []
    for value, heft in zip(values.tolist(), weight.tolist(), strict=True):
        mean, mass, size = value, heft, 1
        while blocks and blocks[-1][0] >= mean:
            previous, its_mass, its_size = blocks.pop()
            merged = mass + its_mass
            mean, mass, size = (mean * mass + previous * its_mass) / merged, merged, size + its_size
        blocks.append((mean, mass, size))
    return np.repeat(np.array([m for m, _, _ in blocks]), [n for _, _, n in blocks])
