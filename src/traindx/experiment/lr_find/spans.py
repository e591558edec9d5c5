"""Where to search first for a learning rate, by the kind of optimizer."""

from __future__ import annotations

# Their steps are as large as the rate says, whatever the gradient: rates near one are never stable.
_NORMALISED = ("adam", "lion", "rmsprop", "lamb", "adafactor", "sophia", "muon", "adagrad", "rprop", "came")
_OF_NORMALISED = (1e-6, 1.0)
_OF_OTHERS = (1e-5, 30.0)
_SMALLEST, _LARGEST = 1e-10, 1e5


def around(optimizer: str, current: float | None) -> tuple[float, float]:
    """The rates such an optimizer is used with, and those around the current one."""
    name = optimizer.lower()
    low, high = _OF_NORMALISED if any(word in name for word in _NORMALISED) else _OF_OTHERS
    if current is not None and current > 0:
        low, high = min(low, current / 10.0), max(high, current * 10.0)
    return max(low, _SMALLEST), min(high, _LARGEST)
