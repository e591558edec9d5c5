"""Tables and paragraphs of plain text that fit a width. Cells must already be `visible`.

A full table library costs more to import than a whole run takes to read; this is what is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from traindx.report.text import MARK

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "title": "1;36",
    "curve": "36",
    "alarm": "1;31",
    "good": "1;32",
    "warning": "1;33",
}
_OURS = dict.fromkeys(map(ord, f"→…·▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▲─{MARK}"), "x")  # one cell each; spares an import
# Signs of ours, and those people use in sentences, in letters that every terminal has.
_IN_ASCII: dict[int, int | str] = {
    **str.maketrans("…·▲─≈×–—‘’“”\u00a0", "~-^-~x--''\"\" "),  # noqa: RUF001
    ord("→"): "->",
    ord("≥"): ">=",
    ord("≤"): "<=",
    ord("±"): "+-",
}
_MARKS = re.compile(f"{MARK}+")


@dataclass(frozen=True)
class Screen:
    """What the output can show."""

    width: int = 100
    colour: bool = False
    unicode: bool = True

    def paint(self, text: str, style: str) -> str:
        if not self.colour or not style or not text.strip():
            return text
        code = _CODES[style]
        if style == "curve":
            text = _MARKS.sub(lambda marks: f"\x1b[1;31m{marks[0]}\x1b[0;{code}m", text)
        return f"\x1b[{code}m{text}\x1b[0m"

    def plain(self, text: str) -> str:
        """The few signs of our own in letters that every terminal has."""
        if self.unicode:
            return text
        return text.translate(_IN_ASCII)


@dataclass(frozen=True)
class Column:
    """`least` is how narrow it may become; 0 lets it be left out when there is no room."""

    head: str
    align: Literal["left", "right"] = "left"
    least: int | None = None
    keep: Literal["start", "end"] = "start"
    style: str = ""


def cells(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.translate(_OURS).isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, width: int, keep: Literal["start", "end"] = "start") -> str:
    """The text cut to a width, an ellipsis where something was taken away."""
    if cells(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    kept = text if keep == "start" else text[::-1]
    while cells(kept) > width - 1:
        kept = kept[: max(len(kept) - max((cells(kept) - width) // 2, 1), 0)]
    return f"{kept}…" if keep == "start" else f"…{kept[::-1]}"


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    screen: Screen,
    *,
    indent: str = "  ",
) -> list[str]:
    """Aligned lines under a head."""
    widths = _widths(columns, rows, screen.width - len(indent))
    lines = []
    for number, row in enumerate([[column.head for column in columns], *rows]):
        parts = []
        for column, text, width in zip(columns, row, widths, strict=True):
            if width:
                style = column.style if number else "dim"
                parts.append(screen.paint(_padded(fit(text, width, column.keep), width, column.align), style))
        lines.append(screen.plain(indent + "  ".join(parts)).rstrip())
    return lines


def without_empty(
    columns: Sequence[Column], rows: Sequence[Sequence[str]]
) -> tuple[list[Column], list[list[str]]]:
    keep = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return [columns[i] for i in keep], [[row[i] for i in keep] for row in rows]


def _padded(text: str, width: int, align: str) -> str:
    blank = " " * (width - cells(text))
    return blank + text if align == "right" else text + blank


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Natural widths; what may be left out goes first, then the widest that may shrink gives way."""
    widths = [max([cells(column.head), *(cells(row[i]) for row in rows)]) for i, column in enumerate(columns)]
    floors = [w if c.least is None else min(w, max(c.least, 8)) for w, c in zip(widths, columns, strict=True)]
    for i in reversed(range(len(columns))):
        if sum(floors) + 2 * (sum(w > 0 for w in widths) - 1) <= room:
            break
        if columns[i].least == 0:
            widths[i] = floors[i] = 0
    while sum(widths) + 2 * (sum(w > 0 for w in widths) - 1) > room:
        loose = [i for i in range(len(columns)) if widths[i] > floors[i]]
        if not loose:
            break
        widths[max(loose, key=lambda i: widths[i])] -= 1
    return widths


def paragraph(
    items: Iterable[str], width: int, *, first: str = "", rest: str = "", between: str = "  "
) -> list[str]:
    """Items set one after the other; a line breaks only between items."""
    lines: list[str] = []
    line, empty = first, True
    for item in items:
        item = fit(item, width - cells(rest))
        if not empty and cells(line) + cells(between) + cells(item) > width:
            lines.append(line)
            line, empty = rest, True
        line += item if empty else between + item
        empty = False
    return [*lines, line] if not empty else lines


def wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """A sentence over as many lines as it needs."""
    return paragraph(text.split(), width, first=first, rest=rest, between=" ")
