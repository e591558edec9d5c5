"""Delimited text as a Table: fast where cells are plain numbers, tolerant where they are not.

The layout (delimiter, header) is learned from the first lines. Blocks of purely numeric cells are
parsed at once; any other block goes row by row: ragged rows, quotes, words, a header that returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from traindx.core.nouns import BoolArray, FloatArray, Unreadable
from traindx.logs import cells
from traindx.logs.layouts import SPACE, Layout, distinct, is_decoration, is_number, learn_layout, split_line
from traindx.logs.lines import blocks, plain, text_of
from traindx.logs.log_file import File
from traindx.logs.tables import LABEL_NAMES, RowBlock, Table, joined

_ALL_BYTES = bytes(range(256))


@dataclass(frozen=True)
class Peek:
    """What the beginning of a file shows: enough to judge whether it is a table of metrics."""

    layout: Layout
    table: Table
    words: float
    ragged: float


def read_table(file: File) -> Table:
    """All numbers of a delimited file by column; gaps are distinguished from NaN."""
    sheets = _Sheets()
    for block in blocks(file):
        sheets.add(block)
    for note in sheets.notes():
        file.note(note)
    return joined(sheets.parts)


def peek(head: bytes) -> Peek | None:
    """The table at the beginning of a file, or None when nothing there looks like one."""
    whole = plain(head)
    cut = whole.rfind(b"\n")
    sheets = _Sheets()
    try:
        sheets.add(whole[: cut + 1] if cut > 0 else whole)
    except Unreadable:
        return None
    if sheets.layout is None:
        return None
    cell_count = max(sheets.rows * len(sheets.layout.names), 1)
    return Peek(
        sheets.layout, joined(sheets.parts), sheets.words / cell_count, sheets.ragged / max(sheets.rows, 1)
    )


class _Sheets:
    """Blocks of rows under one header each; a header that changes in the middle opens a new sheet."""

    def __init__(self) -> None:
        self.layout: Layout | None = None
        self.parts: list[RowBlock] = []
        self.rows = self.words = self.ragged = self.too_long = self.headers = 0

    def add(self, block: bytes) -> None:
        if self.layout is None:
            block = self._begin(block)
        if self.layout is not None and block and not self._add_plain(self.layout, block):
            self._add_rows(text_of(block))

    def _begin(self, block: bytes) -> bytes:
        cut = block.find(b"\n", 65536)
        lines = text_of(block if cut < 0 else block[:cut]).split("\n")
        learned = learn_layout(lines)
        if learned is None:
            return b"" if cut < 0 else block[cut + 1 :]
        self.layout, skip = learned
        at = 0
        for _ in range(skip):
            at = block.find(b"\n", at) + 1
            if not at:
                return b""
        return block[at:]

    def _add_plain(self, layout: Layout, block: bytes) -> bool:
        """Take a block of purely numeric cells, every row of full width; False when it is not one."""
        if b'"' in block or b"#" in block or layout.decimal_comma:
            return False
        block = _single_blanks(block) if layout.delimiter == SPACE else block.strip(b"\n")
        cell_values = _parse_plain(block, layout)
        if cell_values is None:
            header = layout.header.encode()
            if header and header in block:
                block = b"".join((b"\n", block, b"\n")).replace(b"\n" + header + b"\n", b"\n")
            while b"\n\n" in block:
                block = block.replace(b"\n\n", b"\n")
            cell_values = _parse_plain(block.strip(b"\n"), layout)
        if cell_values is None:
            return False
        values, present = cell_values
        shape = (-1, len(layout.names))
        self._keep(layout, values.reshape(shape), None if present is None else present.reshape(shape), {})
        return True

    def _add_rows(self, text: str) -> None:
        rows: list[list[str]] = []
        torn = "" if text.endswith("\n") else text[text.rfind("\n") + 1 :]
        for line in _logical_lines(text):
            layout = self.layout
            assert layout is not None
            if is_decoration(line) or line.lstrip().startswith("#"):
                continue
            if line == layout.header:
                self.headers += 1
                continue
            row = split_line(line, layout.delimiter)
            width = len(layout.names)
            if self._new_header(row, layout):
                self._flush(layout, rows)
                rows = []
                continue
            if len(row) != width:
                self.ragged += 1
                if line == torn and len(row) < width:
                    row = row[:-1]
                self.too_long += len(row) > width and any(cell.strip() for cell in row[width:])
                row = row[:width] + [""] * (width - len(row))
            rows.append(row)
        if self.layout is not None:
            self._flush(self.layout, rows)

    def _new_header(self, row: Sequence[str], layout: Layout) -> bool:
        """Whether a row in the middle is a header; the layout follows it."""
        if not layout.header or len(row) < 2 or any(map(is_number, row[:2])) or any(map(is_number, row)):
            return False
        titles = distinct(row)
        if len(set(titles) & set(layout.names)) < 0.5 * min(len(titles), len(layout.names)):
            return False
        self.headers += 1
        self.layout = replace(layout, names=titles)
        return True

    def _flush(self, layout: Layout, rows: list[list[str]]) -> None:
        if not rows:
            return
        width = len(layout.names)
        values = np.empty((len(rows), width))
        present = np.empty((len(rows), width), dtype=bool)
        labels = {}
        for at, cut in enumerate(zip(*rows, strict=True)):
            values[:, at], present[:, at] = cells.column(cut, decimal_comma=layout.decimal_comma)
            words = sum(1 for c, there in zip(cut, present[:, at], strict=True) if not there and c.strip())
            self.words += words
            if words and layout.names[at].lower() in LABEL_NAMES:
                labels[layout.names[at]] = [c.strip()[:24] for c in cut]
        self._keep(layout, values, present, labels)

    def _keep(
        self, layout: Layout, values: FloatArray, present: BoolArray | None, labels: dict[str, list[str]]
    ) -> None:
        if present is not None:
            full = present.any(axis=1)
            if not full.all():
                values, present = values[full], present[full]
                rows = np.flatnonzero(full).tolist()
                labels = {name: [words[at] for at in rows] for name, words in labels.items()}
            if present.all():
                present = None
        self.rows += len(values)
        masks = [None] * len(layout.names) if present is None else list(present.T)
        columns = dict(zip(layout.names, zip(values.T, masks, strict=True), strict=True))
        self.parts.append((len(values), columns, labels))

    def notes(self) -> Iterator[str]:
        if self.too_long:
            yield f"{self.too_long} row(s) have more cells than the header; the cells beyond it are left out"
        if self.headers:
            yield f"the header is repeated {self.headers} time(s)"


def _parse_plain(block: bytes, layout: Layout) -> tuple[FloatArray, BoolArray | None] | None:
    """All cells of a block at once; None unless lines have full width and cells are numbers or empty."""
    width, mark = len(layout.names), layout.delimiter.encode()
    cuts = block.translate(None, _ALL_BYTES.translate(None, mark + b"\n")) + b"\n"
    if cuts != (mark * (width - 1) + b"\n") * (len(cuts) // width):
        return None
    if mark != b",":
        if b"," in block:
            return None
        block = block.replace(mark, b",")
    numbers = cells.numbers(block.replace(b"\n", b","))
    return numbers if numbers is not None and numbers[0].size == len(cuts) else None


def _single_blanks(block: bytes) -> bytes:
    """Lines of a blank-separated table with one blank between cells and none around."""
    block = block.replace(b"\t", b" ")
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    return block.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" \n")


def _logical_lines(text: str) -> Iterator[str]:
    """Lines, with a quoted cell that spans a few of them put together."""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.count('"') % 2 == 0:
            yield line
            continue
        parts = [line]
        for further_line in lines:
            parts.append(further_line)
            if further_line.count('"') % 2 or len(parts) >= 20:
                break
        if sum(part.count('"') for part in parts) % 2 == 0 and len(parts) > 1:
            yield "\n".join(parts)
        else:
            yield from parts
