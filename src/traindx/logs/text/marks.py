"""Places in a log that are no measurements: sections, overflows, crashes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from traindx.core import names
from traindx.core.tracebacks import NO_CRASH, parsed
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
    (b"esume from", "resume"),
    (b"KeyboardInterrupt", "interrupted"),
    (b"SignalException: Process", "interrupted"),
)
# Early stopping that is only announced, configured or counted.
_IDLE = re.compile(
    r"(?i)early.?stopping.*(?:will be|counter|patience|callback|enabled|monitor)"
    r"|(?:will be|for|using|with|use) early.?stopping"
)
_MOST_PER_KIND = 200
_TRACEBACK_LONGEST = 40_000

Label = TypeVar("Label")


class Marks(Generic[Label]):
    """Places of lines of known skeletons, with the meaning of each skeleton."""

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


@dataclass(frozen=True, order=True)
class Sign:
    """A line that reports something: where it is, what it reports, and of a crash what its traceback says."""

    offset: int
    kind: str
    text: str
    data: Mapping[str, object] = field(default_factory=dict, compare=False)


class Signs:
    """Overflows, crashes and the like, with the line that reports them."""

    def __init__(self) -> None:
        self.events: list[Sign] = []
        self._counts: dict[str, int] = {}

    def scan(self, piece: bytes, base: int) -> None:
        for sign, kind in _SIGNS:
            at = piece.find(sign)
            while at >= 0 and self._counts.get(kind, 0) < _MOST_PER_KIND:
                end = at + len(sign)
                if kind == "exception":
                    end = self._crash(piece, at, base)
                elif not _IDLE.search(line := _line_at(piece, at)):
                    self._add(Sign(base + at, kind, line))
                at = piece.find(sign, end)

    def _add(self, sign: Sign) -> None:
        self._counts[sign.kind] = self._counts.get(sign.kind, 0) + 1
        self.events.append(sign)

    def _crash(self, piece: bytes, at: int, base: int) -> int:
        """Add the crash whose traceback begins here, and those it led to as one; the offset behind it."""
        begin = piece.rfind(b"\n", 0, at) + 1
        above = piece[piece.rfind(b"\n", 0, max(begin - 1, 0)) + 1 : begin]
        block = piece[begin : begin + _TRACEBACK_LONGEST].split(b"\n")
        traceback, count = parsed([text(line) for line in block])
        end = max(begin + sum(len(line) + 1 for line in block[:count]), at + 1)
        if traceback is None:
            self._add(Sign(base + at, "exception", _line_at(piece, at)))
        elif traceback.kind not in NO_CRASH and not above.startswith(b"Exception ignored in"):
            self._add(Sign(base + at, "exception", traceback.line[:300], traceback.data()))
        return end


def _line_at(piece: bytes, at: int) -> str:
    begin = piece.rfind(b"\n", 0, at) + 1
    end = piece.find(b"\n", at)
    return text(piece[begin : end if end >= 0 else None].strip())[:300]
