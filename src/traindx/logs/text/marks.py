"""Places in a log that are no measurements: sections, overflows, crashes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

from traindx.core import names
from traindx.logs.text.clean import text
from traindx.logs.text.shapes import LineShape
from traindx.logs.text.skeleton import NUMBER, pattern

_SECTION = re.compile(
    rb"^[^\w]*(?:(?:start(?:ing)?|begin(?:ning)?|running|run|epoch)\s+)?"
    rb"(train|training|validation|validating|validate|evaluation|evaluating|eval|testing|test)\b[^=\d\x01]{0,30}$",
    re.I,
)
_SIGNS: tuple[tuple[bytes, str], ...] = (
    (b"OVERFLOW!", "overflow"),
    (b"overflow detected", "overflow"),
    (b"Gradient overflow", "overflow"),
    (b"out of memory", "out_of_memory"),
    (b"OutOfMemory", "out_of_memory"),
    (b"Traceback (most recent call last)", "exception"),
    (b"Early stopping", "early_stop"),
    (b"early stopping", "early_stop"),
    (b"EarlyStopping", "early_stop"),
    (b"educing learning rate", "lr_reduced"),
    (b"esuming from", "resume"),
    (b"esumed from", "resume"),
    (b"KeyboardInterrupt", "interrupted"),
)
# Early stopping that is only announced, configured or counted.
_IDLE = re.compile(
    r"(?i)early.?stopping.*(?:will be|counter|patience|callback|enabled|monitor)"
    r"|(?:will be|for|using|with|use) early.?stopping"
)
_MOST_PER_KIND = 200

Label = TypeVar("Label")


class Marks(Generic[Label]):
    """Places of lines of known skeletons, with what each skeleton says."""

    def __init__(self, bones: Mapping[bytes, Label]) -> None:
        self._patterns = [(pattern(bone, set()), label) for bone, label in bones.items()]
        self._places: list[tuple[int, Label]] = []

    def scan(self, piece: bytes, base: int) -> None:
        for regex, label in self._patterns:
            self._places += [(base + m.start(), label) for m in regex.finditer(piece)]

    def marks(self) -> list[tuple[int, Label]]:
        return sorted(self._places, key=lambda mark: mark[0])


def sections(bones: Iterable[bytes]) -> Marks[str]:
    """Lines such as `> EVALUATION` that say to which split the lines below belong."""
    splits: dict[bytes, str] = {}
    for bone in dict.fromkeys(bones):
        hit = _SECTION.match(bone) if 2 < len(bone) < 80 and NUMBER not in bone else None
        if hit and b"..." not in bone and len(splits) < 12:
            splits[bone] = names.split_of(text(hit[1]))
    kinds = set(splits.values())
    return Marks(splits if "train" in kinds and len(kinds) > 1 else {})


def headers(shapes: Iterable[LineShape]) -> Marks[bytes]:
    """The header lines of printed tables: rows are named by the nearest one above."""
    return Marks({bone: bone for shape in shapes for bone in shape.headers})


class Signs:
    """Overflows, crashes and the like, with the line that reports them."""

    def __init__(self) -> None:
        self.events: list[tuple[int, str, str]] = []
        self._counts: dict[str, int] = {}

    def scan(self, piece: bytes, base: int) -> None:
        for sign, kind in _SIGNS:
            at = piece.find(sign)
            while at >= 0 and self._counts.get(kind, 0) < _MOST_PER_KIND:
                line = _event_line(piece, at, kind)
                if not _IDLE.search(line):
                    self._counts[kind] = self._counts.get(kind, 0) + 1
                    self.events.append((base + at, kind, line))
                at = piece.find(sign, at + len(sign))


def _event_line(piece: bytes, at: int, kind: str) -> str:
    """The line of a sign; for a crash, the last line of its traceback."""
    if kind == "exception":
        below = piece[at : at + 20_000].split(b"\n")[1:]
        for line in below:
            if line and not line.startswith((b" ", b"\t")) and b":" in line:
                return text(line.strip())[:300]
    begin = piece.rfind(b"\n", 0, at) + 1
    end = piece.find(b"\n", at)
    return text(piece[begin : end if end >= 0 else None].strip())[:300]
