"""Numbers as a person would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.evidence.case import Curve


def text(value: float) -> str:
    """`0.0002`, `5e-6`, `12500`, `1.86`: short, without a trailing zero or an empty exponent digit."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e7:
        return str(int(value))
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    mantissa, _, exponent = f"{value:.3g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def count(value: float) -> str:
    """`950`, `66.8 thousand`, `124 million`, `7 billion`."""
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e4, "thousand")):
        if value >= size:
            return f"{text(value / (1e3 if word == 'thousand' else size))} {word}"
    return text(value)


def percent(share: float) -> str:
    """`5 %`, `0.4 %`."""
    return f"{100 * share:.0f} %" if share >= 0.02 else f"{100 * share:.2g} %"


def times(factor: float) -> str:
    """`1.8 times`, `30 times`, `2e6 times`."""
    factor = min(factor, 1e300)
    return f"{text(round(factor, 1) if factor < 10 else round(factor))} times"


def strength(value: float, limit: float, full: float) -> float:
    """How far a value lies beyond its limit on a log scale: 0.2 at the limit, 1 at `full` and beyond."""
    from math import log

    if value <= 0 or limit <= 0 or full <= 0 or limit == full:
        return 1.0
    reached = log(value / limit) / log(full / limit)
    return round(min(1.0, max(0.2, 0.2 + 0.8 * reached)), 3)


def where(curve: Curve, step: float) -> str:
    """`step 12,500`, `epoch 3`, `row 17`: a place on the curve's own axis."""
    return f"{curve.axis} {step if curve.axis == 'epoch' else round(step):,.10g}"
