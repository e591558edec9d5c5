"""Student's t and Fisher's F: how improbable a value is, and the t that is so improbable."""

from __future__ import annotations

import math
from functools import lru_cache

_SMALL = 1e-300
_TURNS_MOST = 300


def t_two_sided(t: float, freedom: float) -> float:
    """The probability that a Student t of so many degrees of freedom is at least this far from zero."""
    if not math.isfinite(t):
        return 0.0 if math.isinf(t) else math.nan
    return _incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))


@lru_cache(maxsize=4096)
def t_reach(confidence: float, freedom: float) -> float:
    """How far from zero a Student t stays with this probability (0.95 gives 12.7 for one degree)."""
    target, low, high = 1.0 - confidence, 0.0, 1.0
    while t_two_sided(high, freedom) > target and high < 1e12:
        high *= 2.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if t_two_sided(middle, freedom) > target:
            low = middle
        else:
            high = middle
    return high


def f_tail(f: float, between: float, within: float) -> float:
    """The probability that Fisher's F of so many degrees of freedom is at least so large."""
    if not f > 0:
        return 1.0
    return _incomplete_beta(within / 2.0, between / 2.0, within / (within + between * f))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's way through the continued fraction."""
    c, d = 1.0, 1.0 / _off_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _TURNS_MOST):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _off_zero(1.0 + term * d)
            c = _off_zero(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _off_zero(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL
