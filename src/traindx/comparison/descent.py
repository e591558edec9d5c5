"""Double descent across runs: error that rises and falls again with model size or training length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_SIZES_LEAST = 5
_BEYOND = 3.0
_SHARE = 0.1


@dataclass(frozen=True)
class Descent:
    """Error over a size. `peak` is where it is worst between two descents, None when there is none."""

    setting: str
    points: tuple[tuple[float, float, int], ...]
    peak: float | None
    before: float | None
    after: float | None
    text: str


def descent(setting: str, pairs: Sequence[tuple[float, float]], noise: float) -> Descent | None:
    """Each pair is a size and a final error; lower is better."""
    sizes = sorted({size for size, value in pairs if math.isfinite(value)})
    if len(sizes) < _SIZES_LEAST:
        return None
    groups = [
        [value for size, value in pairs if size == group_size and math.isfinite(value)]
        for group_size in sizes
    ]
    levels = np.array([np.median(group) for group in groups])
    points = tuple(
        (size, float(level), len(group)) for size, level, group in zip(sizes, levels, groups, strict=True)
    )
    bar = max(_BEYOND * noise, _SHARE * float(levels.max() - levels.min()))
    best = (0.0, -1)
    for at in range(1, len(sizes) - 1):
        left, right = float(levels[:at].min()), float(levels[at + 1 :].min())
        rise, fall = float(levels[at]) - left, float(levels[at]) - right
        if min(rise, fall) > max(best[0], bar):
            best = (min(rise, fall), at)
    if best[1] < 0:
        return Descent(setting, points, None, None, None, _plain(setting, sizes, levels))
    at = best[1]
    first, last = float(levels[:at].min()), float(levels[at + 1 :].min())
    wins = "the second descent ends lower" if last < first else "the first descent ends lower"
    text = (
        f"double descent over {setting}: the error falls to {first:.4g}, rises to {levels[at]:.4g} at "
        f"{sizes[at]:g} and falls again to {last:.4g}; {wins}"
    )
    return Descent(setting, points, float(sizes[at]), first, last, text)


def _plain(setting: str, sizes: Sequence[float], levels: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    best = int(levels.argmin())
    where = "the largest" if best == len(sizes) - 1 else "the smallest" if best == 0 else "one between"
    return f"no double descent over {setting}: best at {sizes[best]:g}, {where} of {len(sizes)} tried"
