"""Printed tables: a line of names above lines of numbers."""

from __future__ import annotations

import re

from traindx import names
from traindx.reading.textlog.clean import text
from traindx.reading.textlog.fields import Slot, counter_of
from traindx.reading.textlog.skeleton import NUMBER

_LOOK_BACK = 4
_RULE = re.compile(r"[-=+: ]+")
_VALUE = re.compile(r"[=:]\s*[-+.\d]|^[-+]?\d+(\.\d*)?$")
_BAR = re.compile(rb":\s*\d+%\|")


def header_names(
    bone: bytes, slots: list[Slot], where: list[int], lines: list[bytes], bones: list[bytes]
) -> list[Slot] | None:
    """Slots named by the header above, or None when the line names its own numbers."""
    own = sum(1 for s in slots if s.name and s.kind == "value")
    if own > len(slots) // 2 or len(slots) < 2:
        return None
    cells = _cells(bone)
    for at in where[:3]:
        for above in range(at - 1, max(at - 1 - _LOOK_BACK, -1), -1):
            if bones[above].count(NUMBER) > 3:
                continue
            header = _header(
                lines[above], lines[above - 1] if above and NUMBER not in bones[above - 1] else b""
            )
            if header and _fits(header, cells):
                return _named(header, cells, len(slots))
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
    known = [c for c in cells if c and (counter_of(c) or names.understand(c).known)]
    return cells if len(known) >= 2 and not any(_VALUE.search(c) for c in cells) else []


def _fits(header: list[str], cells: list[bytes]) -> bool:
    if len(header) == len(cells):
        return True
    n = len(header)
    return n < len(cells) and cells[n - 1].endswith(b":")


def _named(header: list[str], cells: list[bytes], count: int) -> list[Slot]:
    slots: list[Slot] = []
    for column, cell in enumerate(cells):
        for part in range(cell.count(NUMBER)):
            name = header[column] if column < len(header) else ""
            if part == 0:
                slots.append(Slot(name, "value" if name else "ignored", keyed=True))
            elif part == 1 and NUMBER + b"/" + NUMBER in cell:
                slots[-1].total = len(slots)
                slots.append(Slot(name, "total", of=len(slots) - 1))
            else:
                slots.append(Slot("", "ignored"))
    return slots[:count]
