"""A curve in one line of text. NaN and Inf show as marks, never as gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.report.text import MARK

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

_ASCII_MARK = "x"
_TICKS = "▁▂▃▄▅▆▇█"
_ASCII_TICKS = "_.-~=+*#"
_LOG_FROM = 50.0


def sparkline(
    steps: FloatArray,
    values: FloatArray,
    *,
    start: float,
    end: float,
    width: int = 20,
    logarithmic: bool = True,
    unicode: bool = True,
) -> str:
    """The curve over `start..end`, so that the lines of one run are aligned.

    A curve over orders of magnitude is drawn by its logarithm, unless `logarithmic` is False.
    Between two points the earlier one holds; before the first and after the last there are blanks.
    """
    levels, broken = _columns(steps, values, start, end, width)
    ticks, mark = (_TICKS, MARK) if unicode else (_ASCII_TICKS, _ASCII_MARK)
    heights = _heights(np.where(broken, np.nan, levels), len(ticks), logarithmic)
    return "".join(mark if broken[i] else " " if heights[i] < 0 else ticks[heights[i]] for i in range(width))


def _columns(
    steps: FloatArray, values: FloatArray, start: float, end: float, width: int
) -> tuple[FloatArray, BoolArray]:
    """The mean of the finite values in each column, and which columns hold one that is not."""
    span = end - start
    scaled = (steps - start) * ((width - 1e-9) / span) if span > 0 else np.zeros(steps.size)
    at = np.clip(scaled, 0, width - 1).astype(np.intp)
    finite = np.isfinite(values)
    broken = np.bincount(at[~finite], minlength=width) > 0
    n = np.bincount(at[finite], minlength=width)
    scale = float(np.abs(values[finite]).max(initial=0.0)) or 1.0  # sums of huge values must not overflow
    sums = np.bincount(at[finite], weights=values[finite] / scale, minlength=width)
    levels = np.full(width, np.nan)
    np.divide(sums, n, out=levels, where=n > 0)
    filled = np.flatnonzero((n > 0) | broken)
    for column in range(int(filled[0]), int(filled[-1])) if filled.size else ():
        if n[column + 1] == 0 and not broken[column + 1]:
            levels[column + 1] = levels[column]
            broken[column + 1] = broken[column] and n[column] == 0
    return levels, broken


def _heights(levels: FloatArray, ticks: int, logarithmic: bool) -> list[int]:
    """Tick numbers, -1 for blank."""
    finite = np.isfinite(levels)
    heights = np.full(levels.size, -1)
    if not finite.any():
        return list(heights)
    finite_levels = levels[finite]
    if logarithmic and finite_levels.min() > 0 and finite_levels.max() > _LOG_FROM * finite_levels.min():
        finite_levels = np.log(finite_levels)
    low, high = finite_levels.min(), finite_levels.max()
    if high - low <= 1e-12 * max(abs(high), abs(low)):
        heights[finite] = ticks // 2 - 1
    else:
        heights[finite] = np.rint((finite_levels - low) / (high - low) * (ticks - 1)).astype(int)
    return [int(height) for height in heights]
