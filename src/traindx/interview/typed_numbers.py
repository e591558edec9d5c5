"""Numbers as people type them: `3e-4`, `50k`, `1,200`, `nan`, `80 %`."""

from __future__ import annotations

import math
import re

_TIMES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
NUMBER = re.compile(
    r"(?<![\w.])([-+]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf(?:inity)?)"
    r"([kKmMbB]?)(?![\w])",
    re.IGNORECASE,
)
_MOST = 1e300


def numbers_in(text: str) -> list[float]:
    """Every number of a text, in its order."""
    values = [number(match) for match in NUMBER.finditer(text)]
    return [value for value in values if not math.isfinite(value) or abs(value) < _MOST]


def number(match: re.Match[str]) -> float:
    """The value of a match of NUMBER."""
    return float(match[1].replace(",", "")) * times(match[2])


def times(ending: str) -> float:
    """`k` is a thousand."""
    return _TIMES[ending.lower()]


def split_pair(text: str) -> tuple[float, float] | None:
    """`1200 of 50000`, `1200/50000`; both finite and not negative."""
    values = numbers_in(text.replace("/", " of "))
    if len(values) < 2 or not all(math.isfinite(value) and value >= 0 for value in values[:2]):
        return None
    return values[0], values[1]
