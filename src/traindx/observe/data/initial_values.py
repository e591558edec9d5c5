"""Whether weights are still the even random numbers that a layer is made with."""

from __future__ import annotations

from math import sqrt

import numpy as np

from traindx.observe.arrays import Values

_FEWEST = 256
_NEAR_BOUND, _SPREAD = 0.97, 0.06


def is_even_draw(values: Values, bound: float) -> bool:
    """Whether numbers fill the range from -bound to bound evenly, and none is outside of it."""
    if values.size < _FEWEST or not bound > 0:
        return False
    largest = float(np.abs(values).max())
    even = abs(float(values.std()) * sqrt(3.0) / bound - 1.0) < _SPREAD
    return even and _NEAR_BOUND * bound <= largest <= 1.0001 * bound
