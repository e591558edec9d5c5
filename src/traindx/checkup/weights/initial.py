"""Whether values are distributed as initialisation leaves them, to the last digit that a test can see.

A training step moves weights over the bound of a uniform initialisation, and changes the spread of a normal
one; the test asks for both, and for the shape in between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_LEAST_UNIFORM, _LEAST_NORMAL = 100, 40_000
_OVER = 1e-5  # share of the bound by which half precision may exceed it
_TAIL = 0.01


@dataclass(frozen=True)
class InitialLaw:
    """The initialisation that values fit, in words; `decided` where the test could see a difference."""

    law: str = ""
    decided: bool = True


def initial_law(values: npt.NDArray[np.float32], fan_in: int, fan_out: int, size: int) -> InitialLaw:
    """The initialisation that the values fit: `uniform, Glorot`, ..."""
    spread = float(np.std(values, dtype=np.float64))
    if spread == 0 or values.size < _LEAST_UNIFORM or not math.isfinite(spread):
        return InitialLaw(decided=False)
    bounds = {
        "uniform, bound 1/sqrt(fan_in)": 1.0 / math.sqrt(fan_in),
        "uniform, Glorot": math.sqrt(6.0 / (fan_in + fan_out)),
        "uniform, He": math.sqrt(6.0 / fan_in),
    }
    for law, bound in bounds.items():
        if uniform_within(values, bound):
            return InitialLaw(law)
    spreads = {
        "normal, 0.02": 0.02,
        "normal, He": math.sqrt(2.0 / fan_in),
        "normal, 1/sqrt(fan_in)": math.sqrt(1.0 / fan_in),
        "normal, Glorot": math.sqrt(2.0 / (fan_in + fan_out)),
    }
    for law, expected in spreads.items():
        if _normal(values, spread, expected):
            # Few values are near a normal law after training too.
            return InitialLaw(law) if size >= _LEAST_NORMAL else InitialLaw(decided=False)
    return InitialLaw()


def recurrent_law(values: npt.NDArray[Any], otherwise: InitialLaw) -> InitialLaw:
    """PyTorch's recurrent layers: even within 1/sqrt(hidden), where one to four gates are stacked."""
    if values.size < _LEAST_UNIFORM:
        return otherwise
    for gates in (1, 3, 4):
        if values.shape[0] % gates == 0 and uniform_within(
            values.reshape(-1), math.sqrt(gates / values.shape[0])
        ):
            return InitialLaw("uniform, bound 1/sqrt(hidden)")
    return otherwise


def is_orthogonal(rows: npt.NDArray[Any]) -> bool:
    """Whether rows, or columns where these are fewer, have one length and stand at right angles."""
    short_side = rows if rows.shape[0] <= rows.shape[1] else rows.T
    if short_side.shape[0] < 4 or short_side.shape[1] > 1 << 14:
        return False
    sampled = np.asarray(short_side[:256], dtype=np.float64)
    products = sampled @ sampled.T
    length = float(products.trace()) / len(sampled)
    return length > 0 and float(np.abs(products / length - np.eye(len(sampled))).max()) < _OVER * 10


def uniform_within(values: npt.NDArray[Any], bound: float) -> bool:
    """Whether values fill [-bound, bound] evenly, and none is outside."""
    highest = float(np.abs(values).max())
    # Of n values the largest is within a few bound/n of the bound; none may be above it.
    if highest > bound * (1 + _OVER) or highest < bound * (1 - 6.0 / values.size):
        return False
    places = np.sort(values.astype(np.float64)) / (2 * bound) + 0.5
    return _kolmogorov(places) > _TAIL


def _normal(values: npt.NDArray[np.float32], spread: float, expected: float) -> bool:
    """Whether values are a normal sample of exactly this spread around 0."""
    count = values.size
    mean = float(values.mean(dtype=np.float64))
    if abs(spread / expected - 1) > 2.5 / math.sqrt(2 * count) or abs(mean) > 3 * expected / math.sqrt(count):
        return False
    from statistics import NormalDist

    # The normal distribution function on a grid: thousands of values are not worth one call each.
    grid = np.linspace(-6, 6, 2001)
    table = np.array([NormalDist().cdf(float(point)) for point in grid])
    return _kolmogorov(np.interp(np.sort(values.astype(np.float64)) / expected, grid, table)) > _TAIL


def _kolmogorov(places: npt.NDArray[np.float64]) -> float:
    """The p-value of sorted values in [0, 1] being uniform there."""
    count = places.size
    above = float((np.arange(1, count + 1) / count - places).max())
    below = float((places - np.arange(count) / count).max())
    scaled = (math.sqrt(count) + 0.12 + 0.11 / math.sqrt(count)) * max(above, below)
    if scaled < 0.2:
        return 1.0
    terms = ((1.0 if k % 2 else -1.0) * math.exp(-2 * k * k * scaled * scaled) for k in range(1, 60))
    return min(1.0, max(0.0, 2 * sum(terms)))
