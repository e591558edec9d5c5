"""What becomes of a change in the user's own files: an edit, or words that say what to do on which line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from traindx.core.nouns import Edit, Grade, Place


@dataclass(frozen=True)
class Edited:
    """A change as an edit.

    `edits` are the lines, of the script or of a configuration it reads; `sources` the whole new text of
    each file, in its own kind of line ends; `args` the new command line where that is what changes.
    """

    edits: tuple[Edit, ...]
    text: str
    grade: Grade = "ask"
    args: tuple[str, ...] | None = None
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Instruction:
    """No edit is certain: the words, and the line they speak of."""

    text: str
    place: Place | None = None


class Uncertain(Exception):
    """An edit cannot be made for sure; the message says to a person what to do instead."""

    def __init__(self, text: str, place: Place | None = None) -> None:
        super().__init__(text)
        self.place = place

    def instruction(self) -> Instruction:
        return Instruction(str(self), self.place)
