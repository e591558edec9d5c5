"""Events taken apart by whole arrays: wall times, steps, the bounds and the keys of summary values.

An event that is not laid out as usual is left to be walked: nothing is assumed that was not checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from traindx.core.nouns import BoolArray, FloatArray, IntArray
from traindx.logs.tfevents.record import RecordBlock, view

UInts = npt.NDArray[np.uint64]


def u64(number: int) -> np.uint64:
    """A constant that keeps arithmetic in 64 unsigned bits."""
    return np.uint64(number)


_BYTE, _TERMINATORS = u64(0xFF), u64(0x0080808080808080)
_POSITIONS = u64(0x0102030405060708)
_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
_MIX = u64(0x9E3779B97F4A7C15)


def _odd_numbers(count: int) -> list[int]:
    """Odd 64-bit numbers with well mixed bits (splitmix64; numpy's generators are slow to import)."""
    out, state, full = [], 7, (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & full
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & full
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & full
        out.append(mixed ^ (mixed >> 31) | 1)
    return out


_ODD = np.array(_odd_numbers(64), dtype=np.uint64)


@dataclass
class Values:
    """Summary values: the event each belongs to and its span."""

    event: IntArray
    start: IntArray
    size: IntArray


def events_of(block: RecordBlock) -> tuple[FloatArray, IntArray, Values, IntArray]:
    """Wall time and step of every event, the summary values, and the events to be walked instead."""
    eights = cast(UInts, view(block.raw, "<u8"))
    start, end = block.starts, block.starts + block.sizes
    times = cast("FloatArray", view(block.raw, "<f8"))[start + 1]
    plain = (np.frombuffer(block.raw, dtype=np.uint8)[start] == 0x09) & (block.sizes > 10)
    word = eights[start + 9]
    stepped = (word & _BYTE) == 0x10
    steps, width = _varints(word >> u64(8))
    plain &= ~stepped | (width > 0)
    steps *= stepped
    at = start + 9 + stepped * (width + 1)
    word = eights[at]
    inner, size, fits = _lengths(word, 0x2A)
    at += inner
    plain &= fits & (at + size == end)
    events = np.flatnonzero(plain)
    values = _values(eights, events, at[events], end[events], plain)
    return times, steps, values, np.flatnonzero(~plain)


def _values(eights: UInts, event: IntArray, at: IntArray, end: IntArray, plain: BoolArray) -> Values:
    """The values of each summary; a summary that holds anything else marks its event as not plain."""
    rounds: list[Values] = []
    while event.size:
        inner, size, fits = _lengths(eights[at], 0x0A)
        start = at + inner
        at = start + size
        fits &= at <= end
        if not fits.all():
            plain[event[~fits]] = False
            event, start, size, at, end = event[fits], start[fits], size[fits], at[fits], end[fits]
        rounds.append(Values(event, start, size))
        more = at < end
        event, at, end = event[more], at[more], end[more]
    if len(rounds) == 1:
        values = rounds[0]
    elif rounds:
        parts = zip(*((r.event, r.start, r.size) for r in rounds), strict=True)
        values = Values(*(np.concatenate(part) for part in parts))
    else:
        empty = np.zeros(0, dtype=np.int64)
        return Values(empty, empty, empty)
    whole = plain[values.event]
    if not whole.all():
        values = Values(values.event[whole], values.start[whole], values.size[whole])
    return values


def _varints(word: UInts) -> tuple[IntArray, IntArray]:
    """Varints of up to seven bytes: their numbers and widths (0: longer than that)."""
    last = ~word & _TERMINATORS
    last &= ~last + u64(1)
    width = ((last >> u64(7)) * _POSITIONS) >> u64(56)
    bits = word & ((last << u64(1)) - u64(1))
    bits = (bits & u64(0x007F007F007F007F)) | ((bits & u64(0x7F007F007F007F00)) >> u64(1))
    bits = (bits & u64(0x00003FFF00003FFF)) | ((bits & u64(0x3FFF00003FFF0000)) >> u64(2))
    bits = (bits & u64(0x0FFFFFFF)) | ((bits & u64(0x0FFFFFFF00000000)) >> u64(4))
    return bits.view(np.int64), width.view(np.int64)


def _lengths(word: UInts, key: int) -> tuple[IntArray, IntArray, BoolArray]:
    """A field key and a length of one or two bytes: bytes taken, length, whether it is one."""
    fits = (word & _BYTE) == key
    size = (word >> u64(8)) & u64(0xFFFF)
    long = (size & u64(0x80)) != 0
    if not long.any():
        return np.full(word.size, 2, dtype=np.int64), (size & u64(0x7F)).view(np.int64), fits
    fits &= ~(long & (size >> u64(15) != 0))
    size = (size & u64(0x7F)) | (((size >> u64(8)) & u64(0x7F)) << u64(7)) * long
    return 2 + long.astype(np.int64), size.view(np.int64), fits


def keys_of(raw: bytes, values: Values) -> UInts:
    """A hash of each value's tag and of what follows it; 0 where a value does not begin with a short tag."""
    eights = cast(UInts, view(raw, "<u8"))
    limit = eights.size - 1
    word = eights[values.start]
    length = ((word >> u64(8)) & _BYTE).view(np.int64)
    length += 2
    good = ((word & _BYTE) == 0x0A) & (length < 130) & (length < values.size)
    key = values.size.view(np.uint64) * _ODD[0]
    for j in range(-(-int(length[good].max(initial=0)) // 8)):
        if j:
            word = eights[np.minimum(values.start + 8 * j, limit)]
        key ^= (word & _KEEP[np.clip(length - 8 * j, 0, 8)]) * _ODD[j + 2]
    after = eights[np.minimum(values.start + length, limit)]
    # a tensor's first 8 bytes hold its type and form, a plain scalar's hold its number
    key ^= np.where((after & _BYTE) == 0x42, after, after & _BYTE) * _ODD[1]
    key ^= key >> u64(32)
    key *= _MIX
    return cast(UInts, key * good)
