"""When lines were written: the timestamps in front of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from traindx.core.nouns import FloatArray, IntArray

_STAMPED = re.compile(
    rb"\n(?:[A-Z]+ - )?[\[(]?(\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?!\d)"
)
_LEAST_SHARE = 0.02
# Places of year, month, day, hour, minute and second in `2025-06-04 18:13:43`.
_PLACES = ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19))


class Stamps:
    """The lines of a log that have a timestamp: their offsets and times.

    A log rarely names its zone, so times are read as UTC: differences are right, the hour may not be.
    """

    def __init__(self, sample: bytes) -> None:
        lines = sample.count(b"\n")
        self._on = len(_STAMPED.findall(sample)) > _LEAST_SHARE * lines
        self._offsets: list[IntArray] = []
        self._times: list[FloatArray] = []
        self._last: tuple[IntArray, FloatArray] | None = None

    def scan(self, piece: bytes, base: int) -> None:
        if not self._on:
            return
        stamps = _STAMPED.findall(piece)
        if stamps:
            starts = np.fromiter((m.start() for m in _STAMPED.finditer(piece)), np.int64, len(stamps))
            self._offsets.append(starts + base)
            self._times.append(unix_seconds(stamps))

    def at(self, offsets: IntArray) -> FloatArray | None:
        """The time of each line: its own stamp, or the last one above it.

        Columns of the same lines come one after the other and share one array.
        """
        if not self._offsets or not offsets.size:
            return None
        if self._last is not None and np.array_equal(self._last[0], offsets):
            return self._last[1]
        if len(self._offsets) > 1:
            self._offsets, self._times = [np.concatenate(self._offsets)], [np.concatenate(self._times)]
        index = np.searchsorted(self._offsets[0], offsets, side="right") - 1
        if (index < 0).any():
            return None
        self._last = (offsets, self._times[0][index])
        return self._last[1]


def unix_seconds(stamps: Sequence[tuple[bytes, bytes]]) -> FloatArray:
    """Seconds since 1970 of `(date and time, fraction)` texts of fixed width."""
    digits = np.frombuffer(b"".join(stamp for stamp, _ in stamps), np.uint8).reshape(len(stamps), 19) - 48
    year, month, day, hour, minute, second = (_number(digits[:, a:b]) for a, b in _PLACES)
    months = ((year - 1970) * 12 + month - 1).astype("M8[M]")
    days = months.astype("M8[D]").astype(np.int64) + day - 1
    fraction = np.fromiter((float(b"0." + f) if f else 0.0 for _, f in stamps), np.float64, len(stamps))
    seconds: FloatArray = days * 86400.0 + hour * 3600.0 + minute * 60.0 + second + fraction
    return seconds


def _number(digits: np.ndarray) -> IntArray:
    value = np.zeros(len(digits), dtype=np.int64)
    for column in digits.T:
        value = value * 10 + column
    return value
