"""The numbers of every line of known shape, in one pass over the whole log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from traindx.core.nouns import BoolArray, FloatArray, IntArray
from traindx.logs.text.numerals import floats
from traindx.logs.text.shapes import LineShape

_RESIDUE_PER_PIECE = 96 * 1024
_RESIDUE_TOTAL = 6 * 1024 * 1024
_SECONDS = {b"s": 1.0, b"ms": 1e-3, b"us": 1e-6, b"ns": 1e-9}


@dataclass(eq=False)
class ShapeLines:
    """All lines of one shape: their offsets in the log, and their numbers by slot."""

    shape: LineShape
    offsets: IntArray
    columns: dict[int, FloatArray]


class _Growing:
    """Columns filled in place, with room for the whole log from the first piece on.

    Room that is never written costs no memory; joining pieces at the end would cost it twice.
    """

    def __init__(self, shape: LineShape) -> None:
        self.shape = shape
        self.count = 0
        self.offsets = np.empty(0, np.int64)
        self.columns = {i: np.empty(0) for i in shape.wanted}

    def add(self, starts: IntArray, rows: Sequence[bytes | tuple[bytes, ...]], share: float) -> None:
        """Take the rows of one piece; `share` of the log has been read when it is done."""
        end = self.count + len(rows)
        if end > self.offsets.size:
            room = int(max(end / max(share, 1e-4) * 1.2, 1.5 * end)) + 64
            self.offsets = self._wider(self.offsets, room)
            for i in self.columns:
                self.columns[i] = self._wider(self.columns[i], room)
        self.offsets[self.count : end] = starts
        for i, values in _columns(self.shape, rows):
            self.columns[i][self.count : end] = values
        self.count = end

    def _wider(self, old: np.ndarray, room: int) -> np.ndarray:
        new = np.empty(room, old.dtype)
        new[: self.count] = old[: self.count]
        return new

    def lines(self) -> ShapeLines:
        columns = {i: column[: self.count] for i, column in self.columns.items()}
        return ShapeLines(self.shape, self.offsets[: self.count], columns)


def scan(
    pieces: Iterable[bytes], shapes: list[LineShape], size: int, residue: list[bytes] | None = None
) -> list[ShapeLines]:
    """Lines of the given shapes in a log of about `size` bytes.

    `residue` collects a share of the lines that no shape explains.
    """
    growing = [_Growing(shape) for shape in shapes]
    base = 0
    residue_bytes = 0
    for piece in pieces:
        matches = [(into, rows) for into in growing if (rows := into.shape.regex.findall(piece))]
        lines = _line_starts(piece)
        free = np.ones(lines.size, dtype=bool)
        for into, rows in sorted(matches, key=lambda pair: len(pair[1])):
            starts = _starts(piece, into.shape, len(rows), lines, free)
            free[np.searchsorted(lines, starts)] = False
            into.add(starts + base, rows, min((base + len(piece)) / max(size, 1), 1.0))
        if residue is not None and residue_bytes < _RESIDUE_TOTAL:
            for line in _lines(piece, lines[free]):
                residue.append(line)
                residue_bytes += len(line)
        base += len(piece)
    return [growing_lines.lines() for growing_lines in growing if growing_lines.count]


def _line_starts(piece: bytes) -> IntArray:
    """Offsets of the newlines in front of lines that are not empty."""
    newlines = np.flatnonzero(np.frombuffer(piece, np.uint8) == 10)
    starts: IntArray = newlines[:-1][np.diff(newlines) > 1]
    return starts


def _starts(piece: bytes, shape: LineShape, count: int, lines: IntArray, free: BoolArray) -> IntArray:
    """The offsets of the lines of a shape. When it takes every line that is left, no search is
    needed; a few of them are tried all the same."""
    if count == int(np.count_nonzero(free)):
        free_lines = lines[free]
        probe_lines = free_lines[:: max(1, free_lines.size // 16)].tolist()
        if all(shape.regex.match(piece, at) for at in probe_lines):
            return free_lines
    return np.fromiter((m.start() for m in shape.regex.finditer(piece)), np.int64, count)


def _columns(shape: LineShape, rows: Sequence[bytes | tuple[bytes, ...]]) -> Iterator[tuple[int, FloatArray]]:
    """Numbers by slot; those with a unit behind them in seconds or bytes."""
    single = len(shape.wanted) + len(shape.units) == 1
    at = 0
    for i in shape.wanted:
        values = floats(rows, None if single else at)
        at += 1
        if i in shape.units:
            values = values * _scale(map(itemgetter(at), rows))
            at += 1
        yield i, values * shape.slots[i].factor if shape.slots[i].factor != 1.0 else values


def _scale(units: Iterable[bytes | tuple[bytes, ...]]) -> float | FloatArray:
    names = list(units)
    kinds = set(names)
    if len(kinds) == 1:
        return _SECONDS[kinds.pop()]  # type: ignore[index]
    return np.array([_SECONDS[unit] for unit in names])  # type: ignore[index]


def _lines(piece: bytes, starts: IntArray) -> Iterator[bytes]:
    """Lines of no known shape, up to a budget."""
    room = _RESIDUE_PER_PIECE
    for start in starts[:4000]:
        line = piece[start : piece.find(b"\n", start + 1)]
        if len(line) > 3:
            yield line
            room -= len(line)
            if room < 0:
                return
