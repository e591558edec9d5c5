"""Tables and paragraphs of plain text that fit a width. Cells must already be `visible`.

A full table library costs more to import than a whole run takes to read; this is what is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from traindx.report.document import TableColumn
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
    "strong": "1",
    "muted": "2",
    # What a state is shown in, everywhere.
    "critical": "1;31",
    "high": "31",
    "medium": "33",
    "low": "2",
    "failed": "31",
    "healthy": "32",
    "no-verdict": "1;33",
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
        code = _CODES.get(style)
        if not self.colour or code is None or not text.strip():
            return text
        if style == "curve":
            text = _MARKS.sub(lambda marks: f"\x1b[1;31m{marks[0]}\x1b[0;{code}m", text)
        return f"\x1b[{code}m{text}\x1b[0m"

    def plain(self, text: str) -> str:
        """The few signs of our own in letters that every terminal has."""
        if self.unicode:
            return text
        return text.translate(_IN_ASCII)


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
    part = text if keep == "start" else text[::-1]
    while cells(part) > width - 1:
        part = part[: max(len(part) - max((cells(part) - width) // 2, 1), 0)]
    return f"{part}…" if keep == "start" else f"…{part[::-1]}"


def table(
    columns: Sequence[TableColumn],
    rows: Sequence[Sequence[str]],
    screen: Screen,
    *,
    indent: str = "  ",
    styles: Sequence[Sequence[str]] = (),
) -> list[str]:
    """Aligned lines under a head; `styles` of single cells go before those of their columns."""
    widths = _widths(columns, rows, screen.width - len(indent))
    lines = []
    for number, row in enumerate([[column.head for column in columns], *rows]):
        cell_styles = styles[number - 1] if styles and number else [""] * len(row)
        cell_lines = [
            wrapped(text, max(width, 1)) or [""] if column.wrap and width else [fit(text, width, column.keep)]
            for column, text, width in zip(columns, row, widths, strict=True)
        ]
        for at in range(max(map(len, cell_lines), default=0)):
            parts = []
            for column, texts, width, style in zip(columns, cell_lines, widths, cell_styles, strict=True):
                if width:
                    text = _padded(texts[at] if at < len(texts) else "", width, column.align)
                    parts.append((text, (style or column.style) if number else "dim"))
            while parts and not parts[-1][0].strip():
                parts.pop()
            parts = [*parts[:-1], (parts[-1][0].rstrip(), parts[-1][1])] if parts else parts
            line = "  ".join(screen.paint(text, style) for text, style in parts)
            lines.append(screen.plain(indent + line).rstrip())
    return lines if any(column.head for column in columns) else lines[1:]


def _padded(text: str, width: int, align: str) -> str:
    blank = " " * (width - cells(text))
    return blank + text if align == "right" else text + blank


def _widths(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Natural widths; optional columns are dropped first, then the widest columns that may shrink."""
    widths = [max([cells(column.head), *(cells(row[i]) for row in rows)]) for i, column in enumerate(columns)]
    least = [24 if c.wrap and c.least is None else c.least for c in columns]
    floors = [w if m is None else min(w, max(m, 8)) for w, m in zip(widths, least, strict=True)]
    for i in reversed(range(len(columns))):
        if sum(floors) + 2 * (sum(w > 0 for w in widths) - 1) <= room:
            break
        if columns[i].least == 0:
            widths[i] = floors[i] = 0
    while sum(widths) + 2 * (sum(w > 0 for w in widths) - 1) > room:
        loose = [i for i in range(len(columns)) if widths[i] > floors[i]]
        loose = loose or [i for i, c in enumerate(columns) if (c.wrap or c.least) and widths[i] > 8]
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
