"""Numbers as text, in one way for reports, remedies and reasons."""

from __future__ import annotations

import math

_AGES = 1e11


def short(number: float | None) -> str:
    """A number in about four digits: 0.0123, 1,250, 3e-4, NaN."""
    if number is None:
        return ""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Inf" if number > 0 else "-Inf"
    size = abs(number)
    if size and (size < 1e-3 or size >= 1e7):
        digits, _, power = f"{number:.2e}".partition("e")
        return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.1f}" if size >= 999.95 else f"{number:.4g}"


def lasting(seconds: float) -> str:
    """A duration in its two largest units."""
    if not abs(seconds) < _AGES:
        return "an unknown time"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, hours, days = round(seconds / 60), int(seconds // 3600), int(seconds // 86400)
    if hours < 1:
        return f"{minutes} min"
    if days < 1:
        return f"{hours} h {int(seconds // 60) % 60} min"
    return f"{days} d {hours % 24} h"


def lasting_each(seconds: float) -> str:
    """A duration that may be very short, as that of a step."""
    return lasting(seconds) if seconds >= 1 else f"{1000 * seconds:.3g} ms"
