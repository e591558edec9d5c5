"""TFRecord framing: where the records of an event file lie, found and checked many at a time.

A record is its length (8 bytes), a masked CRC of the length (4), the payload, a masked CRC of the
payload (4). Headers of short records are recognised wherever they stand by their zero bytes and their
CRC, and the chain they form is verified link by link; anything else is walked one by one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from traindx.core.nouns import IntArray
from traindx.logs.log_file import File
from traindx.logs.tfevents.crc import BULK, all_sound, is_sound, size_crc

BLOCK_BYTES = 2 * 1024 * 1024
RECORD_LIMIT = 256 * 1024 * 1024
PADDING = bytes(32)
_SHORT = 256
_MEDIUM = 65536
_HEADER = struct.Struct("<QI")

Words = npt.NDArray[np.uint32]


@dataclass
class RecordBlock:
    """A stretch of the file and the payloads of the sound records in it. `raw` ends in padding."""

    raw: bytes
    starts: IntArray
    sizes: IntArray


@dataclass
class Damage:
    """What was wrong with a file."""

    torn: bool = False
    lost_bytes: int = 0
    bad_records: int = 0
    huge_records: int = 0

    def notes(self) -> Iterator[str]:
        if self.lost_bytes:
            yield f"{self.lost_bytes:,} bytes are damaged and were skipped"
        if self.bad_records:
            yield f"{self.bad_records:,} records with a wrong checksum were left out"
        if self.huge_records:
            yield f"{self.huge_records:,} records over {RECORD_LIMIT >> 20} MiB were skipped"
        if self.torn:
            yield "the last record is not complete (still being written, or cut off)"


def blocks(file: File, damage: Damage) -> Iterator[RecordBlock]:
    """The sound records of a file, block after block."""
    pending: list[bytes] = []
    have, need, skip = 0, 1, 0
    for chunk in file.chunks(BLOCK_BYTES):
        if skip:
            passed = min(skip, len(chunk))
            skip -= passed
            chunk = chunk[passed:]
        pending.append(chunk)
        have += len(chunk)
        if have < need:
            continue
        scan = _Scan(b"".join((*pending, PADDING)), have, damage)
        yield from scan.blocks()
        pending = [scan.raw[scan.at : have]]
        have -= scan.at
        need = max(scan.need, 1)
        if need > RECORD_LIMIT:
            damage.huge_records += 1
            skip = need - have
            pending, have, need = [], 0, 1
    if have and not skip:
        scan = _Scan(b"".join((*pending, PADDING)), have, damage, final=True)
        yield from scan.blocks()
        have -= scan.at
    damage.torn = bool(have or skip)


class _Scan:
    """Finds the records of one buffer; `at` is where the first record not taken begins."""

    def __init__(self, raw: bytes, size: int, damage: Damage, final: bool = False) -> None:
        self.raw = raw
        self.size = size
        self.damage = damage
        self.final = final
        self.at = 0
        self.need = 0
        self.pieces: list[tuple[IntArray, IntArray]] = []

    def blocks(self) -> Iterator[RecordBlock]:
        heads, sizes = _headers(self.raw, self.size)
        ends = heads + sizes + 16
        breaks = np.append(np.flatnonzero(ends[:-1] != heads[1:]), heads.size - 1)
        while True:
            first = int(heads.searchsorted(self.at))
            if first < heads.size and heads[first] == self.at:
                last = int(breaks[breaks.searchsorted(first)]) + 1
                if ends[last - 1] > self.size:
                    last -= 1
                if last > first:
                    self.pieces.append((heads[first:last], sizes[first:last]))
                    self.at = int(ends[last - 1])
                    continue
            if not self._walk() and not self._resume(heads):
                break
        if self.pieces:
            yield from self._sound()

    def _walk(self) -> bool:
        """One record whose header was not found the quick way; False when there is none."""
        if self.at + 12 > self.size:
            return False
        length, crc = _HEADER.unpack_from(self.raw, self.at)
        if length >> 48 or crc != size_crc(length):
            return False
        if self.at + length + 16 > self.size:
            self.need = length + 16
            return False
        self.pieces.append((np.array([self.at]), np.array([length], dtype=np.int64)))
        self.at += length + 16
        return True

    def _resume(self, heads: IntArray) -> bool:
        """Skip a damaged place up to the next header; False when the buffer has none."""
        if self.need or self.at + 12 > self.size:
            return False
        after = int(np.searchsorted(heads, self.at + 1))
        limit = int(heads[after]) if after < heads.size else self.size
        header = _any_header(self.raw, self.at + 1, limit)
        if header is None and after < heads.size:
            header = limit
        end = header if header is not None else self.size if self.final else max(self.size - 11, self.at + 1)
        self.damage.lost_bytes += end - self.at
        self.at = end
        return header is not None

    def _sound(self) -> Iterator[RecordBlock]:
        heads = np.concatenate([piece[0] for piece in self.pieces])
        sizes = np.concatenate([piece[1] for piece in self.pieces])
        starts = heads + 12
        data = np.frombuffer(self.raw, dtype=np.uint8)
        cut = (starts[:-1] + sizes[:-1] + 16 != starts[1:]) | (sizes[:-1] >= BULK) | (sizes[1:] >= BULK)
        edges = [0, *(np.flatnonzero(cut) + 1).tolist(), heads.size]
        good = np.ones(heads.size, dtype=bool)
        for low, high in pairwise(edges):
            if not all_sound(data, starts[low:high], sizes[low:high]):
                for i in range(low, high):
                    good[i] = is_sound(self.raw, int(starts[i]), int(sizes[i]))
        if not good.all():
            self.damage.bad_records += int((~good).sum())
            starts, sizes = starts[good], sizes[good]
        yield RecordBlock(self.raw, starts, sizes)


def view(raw: bytes, dtype: str) -> npt.NDArray[np.generic]:
    """The bytes as numbers of a type at every byte offset."""
    width = np.dtype(dtype).itemsize
    return np.ndarray((len(raw) - width + 1,), dtype, raw, strides=(1,))


@cache
def _short_crcs() -> Words:
    return np.array([size_crc(size) for size in range(_SHORT)], dtype=np.uint32)


def _headers(raw: bytes, size: int) -> tuple[IntArray, IntArray]:
    """The headers of records of 1 to 255 bytes, and most of those of up to 65,535 bytes.

    A header is its length, zeros, and the CRC of both. Seven zeros hold exactly one aligned zero word,
    six mostly do; the last byte before them that is not zero is the length, or its upper byte.
    """
    words = np.frombuffer(raw, dtype="<u4", count=len(raw) // 4)
    at = np.flatnonzero(words[1:] == 0)
    before = words[at]
    keep = before != 0
    at, before = at[keep], before[keep]
    heads = at * 4
    for limit in (0xFF, 0xFFFF, 0xFFFFFF):
        heads += before > limit
    heads = heads[heads + 12 <= size]
    full = view(raw, "<u8")[heads]
    short = full < _SHORT
    longer = heads[~short] - 1
    heads, lengths = heads[short], full[short].astype(np.int64)
    crcs = view(raw, "<u4")
    good = crcs[heads + 8] == _short_crcs()[lengths]
    if not good.all():
        heads, lengths = heads[good], lengths[good]
    longer = longer[longer >= 0]
    full = view(raw, "<u8")[longer]
    medium = full < _MEDIUM
    if not medium.any():
        return heads, lengths
    longer, full = longer[medium], full[medium]
    distinct, inverse = np.unique(full, return_inverse=True)
    good = crcs[longer + 8] == np.array([size_crc(int(n)) for n in distinct], dtype=np.uint32)[inverse]
    heads = np.concatenate((heads, longer[good]))
    lengths = np.concatenate((lengths, full[good].astype(np.int64)))
    order = np.argsort(heads, kind="stable")
    return heads[order], lengths[order]


def _any_header(raw: bytes, start: int, stop: int) -> int | None:
    """The first header of a record under 16 MiB between two offsets."""
    sizes = cast("npt.NDArray[np.uint64]", view(raw, "<u8"))[start : min(stop, len(raw) - len(PADDING) - 11)]
    for at in np.flatnonzero((sizes < 1 << 24) & (sizes > 0)).tolist():
        crc = _HEADER.unpack_from(raw, start + at)[1]
        if size_crc(int(sizes[at])) == crc:
            return start + at
    return None
