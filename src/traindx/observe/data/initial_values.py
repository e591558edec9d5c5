"""Whether weights are still the random numbers that a layer is made with."""

from __future__ import annotations

from math import sqrt

import numpy as np

from traindx.observe.arrays import Values

_FEWEST = 256
_NEAR_BOUND, _SPREAD = 0.97, 0.06
_ERRORS = 3.5


def is_even_draw(values: Values, bound: float) -> bool:
    """Whether numbers fill the range from -bound to bound evenly, and none is outside of it."""
    if values.size < _FEWEST or not bound > 0:
        return False
    largest = float(np.abs(values).max())
    even = abs(float(values.std()) * sqrt(3.0) / bound - 1.0) < _SPREAD
    return even and _NEAR_BOUND * bound <= largest <= 1.0001 * bound


def is_normal_draw(values: Values) -> bool:
    """Whether numbers are spread around zero as a normal distribution is; trained weights have longer
    tails."""
    if values.size < _FEWEST:
        return False
    spread = float(values.std())
    if not spread > 0 or abs(float(values.mean())) > _ERRORS * spread / sqrt(values.size):
        return False
    fourth = float((((values - values.mean()) / spread) ** 4).mean())
    return abs(fourth - 3.0) < _ERRORS * sqrt(24.0 / values.size)
