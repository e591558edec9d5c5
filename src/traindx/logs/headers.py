"""The first lines of a delimited file, for readers that know their format by its header."""

from __future__ import annotations

from traindx.logs.layouts import split_line
from traindx.logs.lines import plain, text_of
from traindx.logs.log_file import File

_DELIMITERS = (",", ";", "\t")


def header(file: File) -> tuple[str, ...]:
    """The header cells, blanks taken off; empty when the file does not begin with a header line."""
    start = plain(file.head).lstrip()
    if start[:1] in (b"{", b"[", b"<"):
        return ()
    lines = [line for line in text_of(start).split("\n", 8)[:8] if line.strip()][:2]
    if not lines:
        return ()
    delimiter = max(_DELIMITERS, key=lines[0].count)
    cells = tuple(cell.strip() for cell in split_line(lines[0], delimiter))
    if len(lines) > 1 and lines[1].count(delimiter) < min(len(cells) - 1, 1):
        return ()
    return cells if not any(_is_number(cell) for cell in cells) else ()


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
