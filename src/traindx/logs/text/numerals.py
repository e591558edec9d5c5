"""Text of numbers, as logs write them, to floats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import cast

import numpy as np

from traindx.core.nouns import FloatArray

# Marks a cell whose text is no number after all, in contrast to a NaN that the log wrote.
MISSING = float(np.frombuffer(b"\x01\x00\xde\xad\x00\x00\xf8\x7f", dtype=np.float64)[0])
_MISSING_BITS = np.float64(MISSING).view(np.uint64)
_GROUPED = re.compile(rb"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def floats(rows: Sequence[bytes | tuple[bytes, ...]], at: int | None) -> FloatArray:
    """Floats of one column of number texts (`at` of each row, or the rows themselves); what is no
    number becomes MISSING."""
    try:
        return np.fromiter(map(float, _cells(rows, at)), dtype=np.float64, count=len(rows))
    except ValueError:
        return np.array([number_of(cell) for cell in _cells(rows, at)], dtype=np.float64)


def _cells(rows: Sequence[bytes | tuple[bytes, ...]], at: int | None) -> Iterable[bytes]:
    return cast("Iterable[bytes]", rows if at is None else map(itemgetter(at), rows))


def number_of(cell: bytes) -> float:
    try:
        return float(cell)
    except ValueError:
        pass
    plain = cell.strip(b",")
    if _GROUPED.fullmatch(plain):
        return float(plain.replace(b",", b""))
    for word, value in ((b"nan", np.nan), (b"-inf", -np.inf), (b"inf", np.inf)):
        if plain.lower().startswith(word):
            return float(value)
    try:
        return float(plain.rstrip(b".").replace(b",", b"."))
    except ValueError:
        return MISSING


def present(values: FloatArray) -> np.ndarray:
    """Which cells hold a number the log wrote."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    return np.not_equal(bits, _MISSING_BITS)
