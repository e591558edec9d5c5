"""What all statistics rest on: exact rescaling, a spread that survives outliers and ties, p and z."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# Of a normal distribution: the standard deviation over the median absolute deviation.
SD_PER_MAD = 1.4826022185056018
# Of a normal distribution: the standard deviation over the mean absolute deviation.
_SD_PER_MEAN = math.sqrt(math.pi / 2.0)
# Differences below this share of the largest value are rounding, not noise.
ROUNDING = 8.0 * sys.float_info.epsilon


def unit(values: FloatArray) -> tuple[FloatArray, int]:
    """The values divided by a power of two so that the largest lies in [0.5, 1), and its exponent.

    A power of two changes no digit, and squares and differences can neither overflow nor vanish.
    """
    largest = float(np.abs(values).max()) if values.size else 0.0
    exponent = math.frexp(largest)[1]
    scaled: FloatArray = np.ldexp(values, -exponent)
    return scaled, exponent


def back(value: float, exponent: int) -> float:
    """A result on the unit scale in the original unit; what would overflow stays the largest float."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(sys.float_info.max, value)


def spread(deviations: FloatArray) -> float:
    """Robust standard deviation of deviations around zero, on the unit scale.

    Where more than half of them are zero (quantised values), each counts as one quantum at most.
    """
    if deviations.size == 0:
        return 0.0
    sizes = np.abs(deviations)
    middle = float(np.median(sizes))
    if middle > ROUNDING:
        return SD_PER_MAD * middle
    moved = sizes[sizes > ROUNDING]
    if moved.size == 0:
        return 0.0
    return _SD_PER_MEAN * float(moved.min()) * moved.size / sizes.size


def dot(a: FloatArray, b: FloatArray) -> float:
    """The sum of products; for long arrays the threads of `@` cost more than they save."""
    return float(np.multiply(a, b).sum())


def two_sided(z: float) -> float:
    """The probability that a standard normal value is at least this far from zero."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def normal_from_t(t: float, freedom: float) -> float:
    """The z as improbable as a Student t of so many degrees of freedom (Wallace's approximation)."""
    freedom = max(freedom, 0.5)
    size = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    return math.copysign(size, t)
