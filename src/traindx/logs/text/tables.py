"""Printed tables: a line of names above lines of numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from traindx.core import names
from traindx.logs.text.clean import text
from traindx.logs.text.fields import NumberSlot, counter_of
from traindx.logs.text.skeleton import NUMBER

_LINES_ABOVE = 4
_RULE = re.compile(r"[-=+: ]+")
_VALUE = re.compile(r"[=:]\s*[-+.\d]|^[-+]?\d+(\.\d*)?$")
_BAR = re.compile(rb":\s*\d+%\|")


@dataclass
class HeadedRows:
    """Rows of one shape below one header (none when the line names its own numbers)."""

    header: bytes
    slots: list[NumberSlot]
    rows: list[int]


def by_header(
    bone: bytes, slots: list[NumberSlot], where: list[int], lines: list[bytes], bones: list[bytes]
) -> list[HeadedRows]:
    """The rows of a shape, parted by the header above them: it may change within a log."""
    named_values = sum(1 for s in slots if s.name and s.kind == "value")
    if named_values > len(slots) // 2 or len(slots) < 2:
        return [HeadedRows(b"", slots, where)]
    cells = _cells(bone)
    groups: dict[bytes, HeadedRows] = {}
    current = HeadedRows(b"", slots, [])
    for number, at in enumerate(where):
        follows = number > 0 and where[number - 1] == at - 1
        if not follows and (number < 3 or groups):
            header = _header_above(at, cells, lines, bones)
            if header is not None:
                above, names_of = header
                fresh = HeadedRows(above, _named_slots(names_of, cells, len(slots)), [])
                current = groups.setdefault(above, fresh)
        current.rows.append(at)
    return list(groups.values()) or [HeadedRows(b"", slots, where)]


def _header_above(
    at: int, cells: list[bytes], lines: list[bytes], bones: list[bytes]
) -> tuple[bytes, list[str]] | None:
    for above in range(at - 1, max(at - 1 - _LINES_ABOVE, -1), -1):
        if bones[above].count(NUMBER) > 3:
            continue
        upper = lines[above - 1] if above and NUMBER not in bones[above - 1] else b""
        header = _header(lines[above], upper)
        if header and _fits(header, cells):
            return bones[above], header
    return None


def _cells(bone: bytes) -> list[bytes]:
    if b"|" in bone:
        return [c.strip() for c in bone.strip(b"| ").split(b"|")]
    if b"," in bone:
        return [c.strip() for c in bone.split(b",")]
    return bone.split()


def _header(line: bytes, upper: bytes = b"") -> list[str]:
    """Cells of a header line; empty when nothing in it is a known metric or counter.

    A header in two rows (`| Mini-batch |` over `| Accuracy |`) is joined cell by cell.
    """
    plain = _BAR.split(line, maxsplit=1)[0].strip().rstrip(b":")
    if b"|" in plain:
        cells = [text(c.strip()) for c in plain.strip(b"|").split(b"|")]
        above = [text(c.strip()) for c in upper.strip().strip(b"|").split(b"|")]
        if len(above) == len(cells) and not any(_RULE.fullmatch(c) for c in above):
            cells = [f"{a} {b}".strip() for a, b in zip(above, cells, strict=True)]
    elif b"," in plain:
        cells = [text(c.strip()) for c in plain.split(b",")]
    elif re.search(rb"\t|  ", plain):
        cells = [text(c.strip()) for c in re.split(rb"\t+| {2,}", plain) if c.strip()]
    else:
        cells = [text(c) for c in plain.split()]
    if len(cells) < 2 or len(cells) > 200:
        return []
    known_cells = [c for c in cells if c and (counter_of(c) or names.understand(c).known)]
    return cells if len(known_cells) >= 2 and not any(_VALUE.search(c) for c in cells) else []


def _fits(header: list[str], cells: list[bytes]) -> bool:
    if len(header) == len(cells):
        return True
    n = len(header)
    return n < len(cells) and cells[n - 1].endswith(b":")


def _named_slots(header: list[str], cells: list[bytes], count: int) -> list[NumberSlot]:
    slots: list[NumberSlot] = []
    for column, cell in enumerate(cells):
        for part in range(cell.count(NUMBER)):
            name = header[column] if column < len(header) else ""
            if part == 0:
                slots.append(NumberSlot(name, "value" if name else "ignored", keyed=True))
            elif part == 1 and NUMBER + b"/" + NUMBER in cell:
                slots[-1].total = len(slots)
                slots.append(NumberSlot(name, "total", of=len(slots) - 1))
            else:
                slots.append(NumberSlot("", "ignored"))
    return slots[:count]
