"""Round numbers along an axis."""

from __future__ import annotations

import math


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, at most so many: multiples of 1, 2 or 5 times a power of ten."""
    width = high - low
    if not width > 0 or not math.isfinite(width):
        return [low]
    rough = width / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """Powers of ten, or round numbers where the values span too little for them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:
        return [tick for tick in nice_ticks(low, high, most=4) if tick > 0]
    stride = -(-(last - first + 1) // 5)
    return [10.0**power for power in range(first, last + 1, stride)]
