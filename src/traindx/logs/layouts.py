"""How the cells of delimited text are laid out: the delimiter, the header, the decimal mark."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from traindx.core import names
from traindx.core.nouns import Unreadable
from traindx.logs import cells
from traindx.logs.lines import plain, text_of
from traindx.logs.log_file import File

MAX_COLUMNS = 200_000
SPACE = " "
_DELIMITERS = ("\t", ";", "|", ",")
_HEADER_DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


@dataclass(frozen=True)
class Layout:
    """How the cells of a file are laid out. `header` is the line of names, if there is one."""

    delimiter: str
    names: tuple[str, ...]
    header: str = ""
    decimal_comma: bool = False
    named: bool = True


def learn_layout(lines: Sequence[str]) -> tuple[Layout, int] | None:
    """Delimiter and header from the first lines, and how many lines come before the data."""
    comments = [i for i, line in enumerate(lines) if line.lstrip().startswith("#")]
    skip = set(comments)
    content = [i for i, line in enumerate(lines) if i not in skip and not is_decoration(line)]
    if not content:
        return None
    delimiter = _delimiter([lines[i] for i in content[:40]])
    rows = {i: split_line(lines[i], delimiter) for i in content[:40]}
    width = Counter(len(row) for row in rows.values()).most_common(1)[0][0]
    if width > MAX_COLUMNS or max(map(len, rows.values())) > MAX_COLUMNS:
        raise Unreadable(f"more than {MAX_COLUMNS:,} columns")
    first = next(i for i in content if len(rows[i]) == width)
    decimal = _uses_decimal_comma(delimiter, list(rows.values()))
    following = [rows[i] for i in content[:40] if i > first and len(rows[i]) == width]
    if _is_header(rows[first], following):
        return Layout(delimiter, distinct(rows[first]), lines[first], decimal), first + 1
    before = [i for i in content if i < first]
    if before and len(rows[before[-1]]) == width - 1 and not any(map(is_number, rows[before[-1]])):
        header = ["", *rows[before[-1]]]  # R writes no name for its row names
        return Layout(delimiter, distinct(header), lines[before[-1]], decimal), first
    for i in reversed([i for i in comments if i < first]):
        titles = split_line(lines[i].strip().lstrip("# \t"), delimiter)
        if len(titles) == width and not any(map(is_number, titles)):
            return Layout(delimiter, distinct(titles), "", decimal), first
    unnamed = tuple(f"column {n}" for n in range(1, width + 1))
    return Layout(delimiter, unnamed, "", decimal, named=False), first


def is_decoration(line: str) -> bool:
    """Whether a line holds no cell: blank, a ruler, or Excel's `sep=;`."""
    return not line.strip(" \t|:+-=") or not line.strip() or line.startswith("sep=")


def split_line(line: str, delimiter: str) -> list[str]:
    """The cells of one line; quotes are honoured where they balance."""
    if delimiter == SPACE:
        return line.split()
    if '"' not in line:
        return line.split(delimiter)
    if line.count('"') % 2 == 0:
        try:
            return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:
            pass
    return line.replace('"', "").split(delimiter)


def _delimiter(lines: Sequence[str]) -> str:
    """The delimiter that cuts most lines into equally many cells."""
    bare = [_QUOTED.sub("q", line.rstrip(" ")) for line in lines]
    best, best_score = SPACE, 0.0
    for delimiter in _DELIMITERS:
        counts = Counter(line.count(delimiter) for line in bare)
        count, times = counts.most_common(1)[0]
        score = times / len(bare) if count else 0.0
        if bare[0].count(delimiter) != count:
            score *= 0.9
        if score > best_score + 1e-9 and score >= 0.5:
            best, best_score = delimiter, score
    if best == "," and all(line.count(",") == len(line.split()) - 1 == line.count(", ") for line in bare):
        return ","
    return best


def _uses_decimal_comma(delimiter: str, rows: Sequence[Sequence[str]]) -> bool:
    """`0,5;12,25`: commas in numbers that cannot part thousands, and no point anywhere."""
    if delimiter == ",":
        return False
    cells = [cell.strip() for row in rows for cell in row[:200]]
    numeric = [c for c in cells if c and c[0] in "-+0123456789"]
    if any("." in c for c in numeric):
        return False
    return any(re.fullmatch(r"[-+]?(0,\d+|\d+,(\d{1,2}|\d{4,}))(e[-+]?\d+)?", c, re.I) for c in numeric)


def is_number(cell: str) -> bool:
    return cells.cell_number(cell) is not None


def _is_header(row: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """Words where the rows below hold numbers, or words only."""
    if not any(cell.strip() for cell in row):
        return False
    numbers = sum(map(is_number, row[:500]))
    if not numbers:
        return True
    below = [sum(map(is_number, row_below[:500])) for row_below in following[:10]]
    has_known_name = any(names.counter_rank(c) is not None or names.understand(c).known for c in row[:500])
    return bool(below) and has_known_name and numbers < min(below) and numbers < 0.5 * len(row)


def distinct(titles: Iterable[str]) -> tuple[str, ...]:
    """Header cells as distinct names: stripped, the unnamed and the repeated ones numbered."""
    return numbered_repeats(
        title.strip(" \t\"'\ufeff") or f"Unnamed: {at}" for at, title in enumerate(titles)
    )


def numbered_repeats(names: Iterable[str]) -> tuple[str, ...]:
    """Names of which the second and later of one kind are numbered: `loss`, `loss#2`."""
    counts: dict[str, int] = {}
    out = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        out.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return tuple(out)


def header(file: File) -> tuple[str, ...]:
    """The header cells, blanks taken off; empty when the file does not begin with a header line."""
    start = plain(file.head).lstrip()
    if start[:1] in (b"{", b"[", b"<"):
        return ()
    lines = [line for line in text_of(start).split("\n", 8)[:8] if line.strip()][:2]
    if not lines:
        return ()
    delimiter = max(_HEADER_DELIMITERS, key=lines[0].count)
    cells = tuple(cell.strip() for cell in split_line(lines[0], delimiter))
    if len(lines) > 1 and lines[1].count(delimiter) < min(len(cells) - 1, 1):
        return ()
    return cells if not any(map(is_number, cells)) else ()
