"""JSON of unknown origin: one document, or one object per line as a Table.

orjson reads what is strict JSON; the standard library reads the rest (bare NaN and Infinity).
Nested objects become columns named with `/` between the levels. Lines that are no JSON object are
skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from traindx.core.documents import Damaged, json_of, shallow, too_deep
from traindx.core.nouns import Unreadable
from traindx.logs.lines import blocks, plain, room_for, text_of
from traindx.logs.log_file import File
from traindx.logs.tables import LABEL_NAMES, Cells, RowBlock, Table, as_number, joined
from traindx.logs.uniform_lines import Row as Row
from traindx.logs.uniform_lines import alike
from traindx.logs.uniform_lines import parse_line as parse_line

MAX_DOCUMENT = 256 << 20
MAX_COLUMNS = 200_000
MAX_VALUES = 20_000_000
_OBJECT = 8
_COUNTED = 1 << 20
_DEPTH = 8
_NUMBER_STARTS = "0123456789+-. nNiI"
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]|"', re.DOTALL)


def load(data: bytes) -> object:
    """One JSON document, without what is nested too deeply. Unreadable when it is none, or is cut off."""
    return _loaded(data)[0]


def _loaded(data: bytes) -> tuple[object, list[str]]:
    """The document, and the keys of it that were left out."""
    room_for(data)
    try:
        document = orjson.loads(data)
        return _flat(document) if too_deep(data, document) else (document, [])
    except orjson.JSONDecodeError:
        pass
    try:
        return json_of(text_of(plain(data))), []
    except Damaged as error:
        raise Unreadable(str(error)) from None


def _flat(document: object) -> tuple[object, list[str]]:
    shallow_part = (
        {key: value for key, value in document.items() if shallow(value)}
        if isinstance(document, dict)
        else {}
    )
    if not shallow_part or not isinstance(document, dict):
        raise Unreadable("JSON nested too deeply")
    return shallow_part, [key for key in document if key not in shallow_part]


def load_torn(data: bytes) -> object:
    """The part before the cut of a JSON document that is cut off."""
    text = text_of(plain(data))
    closers, cut, depth = [], 0, 0
    for match in _STRUCTURE.finditer(text):
        mark = match[0]
        if mark in "[{":
            closers.append("]" if mark == "[" else "}")
        elif mark in "]}":
            if not closers or closers.pop() != mark:
                break
            cut, depth = match.end(), len(closers)
        elif mark == ",":
            cut, depth = match.start(), len(closers)
        elif mark == '"':
            break
        if len(closers) > 200:
            raise Unreadable("JSON nested too deeply")
    if not cut:
        raise Unreadable("not valid JSON")
    return load((text[:cut] + "".join(reversed(closers[:depth]))).encode("utf-8", "replace"))


def load_file(file: File) -> object:
    """The document in a file; of a torn or a huge one the part before the cut, with a note."""
    data = b"" if file.size > MAX_DOCUMENT else file.read(MAX_DOCUMENT + 1)
    if file.size > MAX_DOCUMENT or len(data) > MAX_DOCUMENT:
        raise Unreadable(f"the JSON document is larger than {MAX_DOCUMENT >> 20} MiB, the most that is read")
    fitting = _fitting(data)
    if fitting < len(data):
        document = load_torn(data[:fitting])
        file.note(f"the JSON has too many values: the first {fitting >> 20} MiB were read")
        return document
    try:
        document, left_out = _loaded(data)
    except Unreadable:
        document = load_torn(data)
        file.note("the JSON is cut off or damaged; read up to there")
        return document
    if left_out:
        file.note(f"nested too deeply, and left out: {', '.join(left_out[:3])}")
    return document


def load_object(file: File) -> Row | None:
    """The object in a file; None when it is another document, or with a note when it is damaged."""
    try:
        document = load_file(file)
    except Unreadable as error:
        file.note(str(error))
        return None
    return document if isinstance(document, dict) else None


def _fitting(data: bytes) -> int:
    """How many of the bytes, as objects in memory, take no more than about a GiB."""
    values_left = MAX_VALUES
    for at in range(0, len(data), _COUNTED):
        end = at + _COUNTED
        values_left -= data.count(b",", at, end) + _OBJECT * (
            data.count(b"{", at, end) + data.count(b"[", at, end)
        )
        if values_left < 0:
            return at
    return len(data)


def read_rows(file: File) -> list[Row]:
    """All objects of a JSON-lines file, unchanged."""
    rows: list[Row] = []
    garbage = 0
    for block in blocks(file):
        good, bad = _rows(block)
        rows += good
        garbage += bad
    _note_garbage(file, garbage)
    return rows


def read_table(file: File) -> Table:
    """All numbers of a JSON-lines file by column."""
    parts: list[RowBlock] = []
    garbage = 0
    for block in blocks(file):
        fast = alike(block)
        if fast is not None:
            parts.append((*fast, {}))
            continue
        rows, bad = _rows(block)
        garbage += bad
        if rows:
            parts.append((len(rows), *columns_of(rows)))
    _note_garbage(file, garbage)
    return joined(parts)


def table_of(rows: Sequence[Row]) -> Table:
    """Rows that are already in memory as a table."""
    return joined([(len(rows), *columns_of(rows))]) if rows else Table({}, {})


def table_of_lists(lists: Mapping[str, list[Any]]) -> Table:
    """Lists of equal length as a table."""
    columns = {title: column for title, raw in lists.items() if (column := column_of(raw)) is not None}
    return joined([(len(next(iter(lists.values()), [])), columns, {})])


def flatten_row(
    row: Mapping[str, object], prefix: str = "", depth: int = _DEPTH
) -> Iterator[tuple[str, object]]:
    """Cells of a row with nested objects spelled `outer/inner`."""
    for key, value in row.items():
        if isinstance(value, Mapping) and depth:
            yield from flatten_row(value, f"{prefix}{key}/", depth - 1)
        else:
            yield f"{prefix}{key}", value


def columns_of(rows: Sequence[Row], *, nested: bool = True) -> tuple[dict[str, Cells], dict[str, list[str]]]:
    """Numbers by column, and the words of columns that may name a split."""
    titles: Row = {}
    for row in rows:
        titles.update(row)
    if len(titles) > MAX_COLUMNS:
        raise Unreadable(f"more than {MAX_COLUMNS:,} columns")
    columns: dict[str, Cells] = {}
    labels: dict[str, list[str]] = {}
    for title in titles:
        raw = [row.get(title) for row in rows]
        kinds = set(map(type, raw))
        if nested and dict in kinds:
            return columns_of([dict(flatten_row(row)) for row in rows], nested=False)
        column = _column(raw, kinds)
        if column is not None:
            columns[title] = column
        if title.rpartition("/")[2].lower() in LABEL_NAMES and any(isinstance(v, str) for v in raw):
            labels[title] = [v.strip()[:24] if isinstance(v, str) else "" for v in raw]
    return columns, labels


def column_of(raw: list[Any]) -> Cells | None:
    """Values of JSON as numbers, and which cells have one (None: all); None when no cell has."""
    return _column(raw, set(map(type, raw)))


def _column(raw: list[Any], kinds: set[type]) -> Cells | None:
    if kinds == {type(None)}:
        return None
    if kinds <= {float, int, type(None)}:
        try:
            if type(None) not in kinds:
                return np.fromiter(raw, float, len(raw)), None
            values = np.array(raw, dtype=float)
            return values, np.fromiter((cell is not None for cell in raw), bool, len(raw))
        except OverflowError:
            pass
    values = np.full(len(raw), np.nan)
    present = np.zeros(len(raw), dtype=bool)
    if not kinds <= {type(None), list, dict}:
        for at, value in enumerate(raw):
            if value is None or (type(value) is str and (":" in value or value[:1] not in _NUMBER_STARTS)):
                continue
            number = as_number(value)
            if number is not None:
                values[at] = number
                present[at] = True
    if not present.any():
        return None
    return values, None if present.all() else present


def _rows(block: bytes) -> tuple[list[Row], int]:
    """The objects of a block of lines, and how many lines were none."""
    block = block.strip()
    if not block:
        return [], 0
    try:
        rows = orjson.loads(b"".join((b"[", block.replace(b"\n", b","), b"]")))
        if all(type(row) is dict for row in rows) and not too_deep(block, rows, len(rows)):
            return rows, 0
    except orjson.JSONDecodeError:
        pass
    lines = [line for line in block.split(b"\n") if line.strip()]
    parsed = [parse_line(line) for line in lines]
    good = [row for row in parsed if row is not None]
    return good, len(parsed) - len(good)


def _note_garbage(file: File, lines: int) -> None:
    if lines:
        file.note(f"{lines} line(s) are not JSON objects (torn or garbage); skipped")
