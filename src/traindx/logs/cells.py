"""Numbers from text, many at a time or one by one, as opposed to gaps and words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import orjson

from traindx.core.nouns import BoolArray, FloatArray

# JSON has no NaN and no Inf: while a batch is parsed these stand in for them. The blanks around
# them make `nan5` two tokens, which JSON refuses.
_NAN = 1.7391862438110837e308
_INF = 1.7391862438110839e308
_TAKEN = b"73918624381108"
_TOKENS = (
    *((word, f" {_NAN!r} ".encode()) for word in (b"-nan", b"NaN", b"nan", b"NAN")),
    *((word, f" {-_INF!r} ".encode()) for word in (b"-Infinity", b"-inf", b"-Inf", b"-INF")),
    *((word, f" {_INF!r} ".encode()) for word in (b"Infinity", b"inf", b"Inf", b"INF")),
)
_NUMERIC = b"0123456789+-.eE, \t\n"
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_WRAPPED = re.compile(r"(?:tensor\(|np\.float\d+\(|\[)\s*([-+.\w]+)\s*(?:,[^)\]]*)?[)\]]")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")


def numbers(flat: bytes) -> tuple[FloatArray, BoolArray | None] | None:
    """Comma-separated cells as values and their presence (None: no gap).

    An empty cell and `null` are gaps. None when any cell is something else than a number.
    """
    odd = False
    if b"n" in flat or b"N" in flat or b"I" in flat:
        if _TAKEN in flat:
            return None
        for word, number in _TOKENS:
            if word in flat:
                flat, odd = flat.replace(word, number), True
    try:
        items, gaps = _parse(flat), False
        if items is None:
            flat = b"".join((b",", flat, b",")).replace(b",,", b",null,").replace(b",,", b",null,")[1:-1]
            items, gaps = _parse(flat), True
        if items is None or flat.translate(None, _NUMERIC + b"nul"):
            return None
        gaps = gaps or b"n" in flat
        values = np.array(items, dtype=float) if gaps else np.fromiter(items, float, len(items))
    except (ValueError, TypeError, OverflowError):
        return None
    present = ~np.isnan(values) if gaps else None
    if odd:
        values[values == _NAN] = np.nan
        values[np.abs(values) == _INF] *= np.inf
    return values, present


def _parse(flat: bytes) -> list[float | None] | None:
    try:
        return orjson.loads(b"".join((b"[", flat, b"]")))  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        return None


def column(cells: Sequence[str], *, decimal_comma: bool = False) -> tuple[FloatArray, BoolArray]:
    """Cells of one column as values and their presence; words are gaps."""
    if not decimal_comma and not any("_" in cell for cell in cells[:50]):
        try:
            values = np.fromiter(map(float, cells), float, len(cells))
            return values, np.ones(len(cells), dtype=bool)
        except ValueError:
            pass
    values = np.full(len(cells), np.nan)
    present = np.zeros(len(cells), dtype=bool)
    for at, cell in enumerate(cells):
        number = cell_number(cell, decimal_comma=decimal_comma) if cell else None
        if number is not None:
            values[at] = number
            present[at] = True
    return values, present


def cell_number(text: str, *, decimal_comma: bool = False) -> float | None:
    """The number a cell shows: `nan`, `45.3%`, `1,234`, `tensor(0.5)` are ones; words and blanks are not."""
    text = text.strip(" \t\"'")
    if decimal_comma and _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        pass
    if len(text) > 100 or not text:
        return None
    if text[-1] == "%":
        return cell_number(text[:-1], decimal_comma=decimal_comma)
    if text[0] in "-+0123456789":
        return float(text.replace(",", "")) if _THOUSANDS.fullmatch(text) else None
    if wrapped := _WRAPPED.fullmatch(text):
        return cell_number(wrapped[1])
    return None
