"""JSON lines that are alike, read by the text they share: no object is built per line.

Most logs write the same keys in the same order line after line, or a few kinds of such lines. The
text between the numbers is then the same, and once it is taken out, numbers are left.
"""

from __future__ import annotations

import re

import numpy as np
import orjson

from traindx.core.documents import Damaged, json_of, too_deep
from traindx.core.nouns import BoolArray, FloatArray
from traindx.logs import cells
from traindx.logs.lines import text_of
from traindx.logs.tables import Cells

Row = dict[str, object]

_KINDS = 24
_SAMPLE = 16384
_PLAIN = (int, float, type(None))
_NUMBER = re.compile(rb"(?<=[:\s])(?:-?[\d.]+(?:[eE][-+]?\d+)?|NaN|-?Infinity|null)(?=\s*[,}])")
_MARKS = bytes(range(128, 256))
_NO_MARKS = bytes(range(128))
_MARKS_TO_COMMAS = bytes.maketrans(_MARKS, b"," * len(_MARKS))
_IN_NUMBERS = b"0123456789+-.eE"


def parse_line(line: bytes) -> Row | None:
    """The object one line holds, or None."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            row = json_of(text_of(line))
        except Damaged:
            return None
    return row if isinstance(row, dict) and not too_deep(line, row) else None


def alike(block: bytes) -> tuple[int, dict[str, Cells]] | None:
    """How many lines a block has, and its columns; None when its lines are of too many kinds."""
    block = block.strip(b"\n")
    row = parse_line(block[:_SAMPLE].partition(b"\n")[0])
    if row is not None and not all(type(value) in _PLAIN for value in row.values()):
        return None
    start = block[:_SAMPLE].translate(None, _IN_NUMBERS).split(b"\n")
    if len(set(start[:-1])) < 2 and (uniform := _uniform(block)) is not None:
        return uniform
    lines = block.split(b"\n")
    kinds: dict[bytes, list[int]] = {}
    for at, kind in enumerate(block.translate(None, _IN_NUMBERS).split(b"\n")):
        members = kinds.get(kind)
        if members is None:
            if len(kinds) >= _KINDS or (at > 200 and len(kinds) > 0.1 * at):
                return None
            members = kinds[kind] = []
        members.append(at)
    if len(kinds) < 2:
        return None
    return _of_kinds(lines, list(kinds.values()))


def _of_kinds(lines: list[bytes], kinds: list[list[int]]) -> tuple[int, dict[str, Cells]] | None:
    columns: dict[str, tuple[FloatArray, BoolArray]] = {}
    for members in kinds:
        uniform = _uniform(b"\n".join([lines[at] for at in members]))
        if uniform is None:
            return None
        rows = np.array(members)
        for title, (numbers, there) in uniform[1].items():
            if title not in columns:
                columns[title] = np.full(len(lines), np.nan), np.zeros(len(lines), dtype=bool)
            values, present = columns[title]
            values[rows] = numbers
            present[rows] = True if there is None else there
    return len(lines), {t: (values, None if there.all() else there) for t, (values, there) in columns.items()}


def _uniform(block: bytes) -> tuple[int, dict[str, Cells]] | None:
    """Columns of a block whose lines differ in their numbers only; None when they do not.

    The text between the numbers of the first line, one piece per key, is replaced in all lines by one
    byte per piece: these bytes must come in the same order in every line, and nothing but numbers
    may be left between them.
    """
    block = block.strip(b"\n")
    end = block.find(b"\n")
    first = block if end < 0 else block[:end]
    row = parse_line(first) if len(first) < 100_000 else None
    if not row or not all(type(value) in _PLAIN for value in row.values()):
        return None
    between = _NUMBER.split(first)
    if len(between) != len(row) + 1 or len(row) > len(_MARKS):
        return None
    pieces = [*between[1:-1], between[-1] + b"\n" + between[0]]
    flat = block[len(between[0]) : len(block) - len(between[-1])]
    marks = _MARKS[: len(pieces)]
    for at, piece in enumerate(pieces):
        flat = flat.replace(piece, marks[at : at + 1])
    lines = block.count(b"\n") + 1
    if flat.translate(None, _NO_MARKS) != (marks * lines)[:-1]:
        return None
    numbers = cells.numbers(flat.translate(_MARKS_TO_COMMAS))
    if numbers is None or numbers[0].size != lines * len(row):
        return None
    values, present = numbers
    grid = values.reshape(lines, len(row))
    mask = None if present is None else present.reshape(lines, len(row))
    columns: dict[str, Cells] = {}
    for at, title in enumerate(row):
        there = None if mask is None or mask[:, at].all() else mask[:, at].copy()
        if there is None or there.any():
            columns[title] = np.ascontiguousarray(grid[:, at]), there
    return lines, columns
