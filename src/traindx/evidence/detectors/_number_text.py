"""Numbers of findings: those of `core.number_text`, and how far one is beyond its limit."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from traindx.core.number_text import count, percent, place, text, times

if TYPE_CHECKING:
    from traindx.evidence.case import Curve

__all__ = ["count", "percent", "strength", "text", "times", "where"]


def strength(value: float, limit: float, full: float) -> float:
    """How far a value lies beyond its limit on a log scale: 0.2 at the limit, 1 at `full` and beyond."""
    if value <= 0 or limit <= 0 or full <= 0 or limit == full:
        return 1.0
    reached = log(value / limit) / log(full / limit)
    return round(min(1.0, max(0.2, 0.2 + 0.8 * reached)), 3)


def where(curve: Curve, step: float) -> str:
    """`step 12,500`, `epoch 3`, `row 17`: a place on the curve's own axis."""
    return place(curve.axis, step, whole=curve.axis != "epoch" or curve.series.whole)
