"""Rows of a table left out: `site == 2` as a change of the data."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from traindx.core import files
from traindx.experiment.prove.versions import NoVersion, Version

_RULE = re.compile(
    r"\s*(?:(?P<file>[^:<>=!]+):)?\s*(?P<column>[^<>=!]+?)\s*(?P<sign>==|!=|<=|>=|<|>)\s*(?P<value>.+?)\s*"
)
_SIGNS: dict[str, Callable[[float | str, float | str], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,  # type: ignore[operator]
    "<=": lambda a, b: a <= b,  # type: ignore[operator]
    ">": lambda a, b: a > b,  # type: ignore[operator]
    ">=": lambda a, b: a >= b,  # type: ignore[operator]
}
_MOST = 2000


def without_rows(rule: str, folder: str, store: Path) -> Version:
    """The version whose tables lack the rows of a rule: every .csv with the column, or the one named."""
    match = _RULE.fullmatch(rule)
    if match is None:
        raise NoVersion(
            f"--drop {rule!r} is not of the form 'column == value' or 'train.csv: column > value'."
        )
    column, value = match["column"].strip(), match["value"].strip("\"'")
    replaced, counts = dict[str, str](), list[str]()
    for path in _tables(match["file"], folder):
        filtered = _filtered_table(path, column, match["sign"], value)
        if filtered is None:
            continue
        text, dropped, rows = filtered
        if dropped == rows:
            raise NoVersion(f"--drop {rule!r} would leave no row of {os.path.relpath(path, folder)}.")
        if dropped:
            target = store / f"rows-{len(replaced)}.csv"
            target.write_text(text, encoding="utf-8", newline="")
            replaced[os.path.realpath(path)] = str(target)
            counts.append(f"{dropped:,} of {rows:,} rows of {os.path.relpath(path, folder)}")
    if not replaced:
        place_text = match["file"] or "any .csv file here"
        raise NoVersion(
            f"--drop {rule!r}: no such row in {place_text.strip()} (is {column!r} one of its columns?)."
        )
    return Version(f"without {rule.strip()} ({', '.join(counts)})", files=replaced)


def _tables(name: str | None, folder: str) -> Iterator[str]:
    if name is not None:
        path = os.path.join(folder, name.strip())
        if not os.path.isfile(path):
            raise NoVersion(f"--drop: there is no file {name.strip()}.")
        yield path
        return
    for table in sorted(Path(folder).rglob("*.csv"))[:_MOST]:
        if table.is_file() and ".traindx" not in table.parts:
            yield str(table)


def _filtered_table(path: str, column: str, sign: str, value: str) -> tuple[str, int, int] | None:
    """The text without the rows, how many they are, and of how many; None where it has no such column."""
    try:
        rows = list(csv.reader(io.StringIO(files.read(path).decode("utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error):
        return None
    if not rows or column not in (heads := [head.strip() for head in rows[0]]):
        return None
    at = heads.index(column)
    remaining = [row for row in rows[1:] if len(row) <= at or not _fits(row[at], sign, value)]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([rows[0], *remaining])
    return buffer.getvalue(), len(rows) - 1 - len(remaining), len(rows) - 1


def _fits(cell: str, sign: str, value: str) -> bool:
    try:
        return _SIGNS[sign](float(cell), float(value))
    except ValueError:
        return _SIGNS[sign](cell.strip(), value)
