"""The numbers of every line of known shape, in one pass over the whole log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from traindx.textlog.learn import Shape
from traindx.textlog.numbers import floats

if TYPE_CHECKING:
    from traindx.core import FloatArray, IntArray

_RESIDUE_PER_PIECE = 96 * 1024
_RESIDUE_TOTAL = 6 * 1024 * 1024


@dataclass
class Seen:
    """All lines of one shape: where they stand in the log, and their numbers by slot."""

    shape: Shape
    offsets: IntArray
    columns: dict[int, FloatArray]


@dataclass
class _Gathering:
    offsets: list[IntArray] = field(default_factory=list)
    columns: dict[int, list[FloatArray]] = field(default_factory=dict)


def scan(pieces: Iterable[bytes], shapes: list[Shape], residue: list[bytes] | None = None) -> tuple[list[Seen], int]:
    """Lines of the given shapes; `residue` collects a share of the lines that none explained."""
    gathered = [_Gathering(columns={i: [] for i in shape.wanted}) for shape in shapes]
    base = 0
    kept = 0
    for piece in pieces:
        covered: list[IntArray] = []
        for shape, into in zip(shapes, gathered, strict=True):
            rows = shape.regex.findall(piece)
            if not rows:
                continue
            starts = np.fromiter((m.start() for m in shape.regex.finditer(piece)), np.int64, len(rows))
            into.offsets.append(starts + base)
            for i, column in _columns(shape, rows):
                into.columns[i].append(column)
            covered.append(starts)
        if residue is not None and kept < _RESIDUE_TOTAL:
            for part in _uncovered(piece, covered):
                residue.append(part)
                kept += len(part)
        base += len(piece)
    return [_seen(shape, into) for shape, into in zip(shapes, gathered, strict=True) if into.offsets], base


_SECONDS = {b"s": 1.0, b"ms": 1e-3, b"us": 1e-6, b"ns": 1e-9}


def _columns(shape: Shape, rows: list[tuple[bytes, ...]]) -> Iterator[tuple[int, FloatArray]]:
    """Numbers by slot; those with a time unit behind them in seconds."""
    single = len(shape.wanted) + len(shape.units) == 1
    cells = iter([tuple(rows)]) if single else zip(*rows, strict=True)
    for i in shape.wanted:
        values = floats(next(cells))  # type: ignore[arg-type]
        if i in shape.units:
            units = next(cells)
            kinds = set(units)
            scale = _SECONDS[kinds.pop()] if len(kinds) == 1 else np.array([_SECONDS[u] for u in units])
            values = values * scale
        yield i, values


def _seen(shape: Shape, into: _Gathering) -> Seen:
    offsets = np.concatenate(into.offsets)
    into.offsets.clear()
    columns = {}
    for i in shape.wanted:
        columns[i] = np.concatenate(into.columns[i])
        into.columns[i].clear()
    return Seen(shape, offsets, columns)


def _uncovered(piece: bytes, covered: list[IntArray]) -> Iterator[bytes]:
    """Runs of lines that no shape took, up to a budget."""
    left = _RESIDUE_PER_PIECE
    if not covered:
        yield piece[:left]
        return
    starts = np.sort(np.concatenate(covered))
    newlines = np.flatnonzero(np.frombuffer(piece, np.uint8) == 10)
    line_of = np.searchsorted(newlines, starts)
    free = np.ones(newlines.size, dtype=bool)
    free[line_of] = False
    for at in np.flatnonzero(free[:-1])[:4000]:
        line = piece[newlines[at] : newlines[at + 1]]
        if len(line) > 3:
            yield line
            left -= len(line)
            if left < 0:
                return
