"""The result of turning a change into source: an edit, or an instruction for one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """What to do by hand where no edit is certain, and on which line."""

    text: str
    place: Place | None = None


class Uncertain(Exception):
    """No edit is certain; the message says what to do by hand."""

    def __init__(self, text: str, place: Place | None = None) -> None:
        super().__init__(text)
        self.place = place

    def instruction(self) -> Instruction:
        return Instruction(str(self), self.place)


def sentence(descriptions: Iterable[str]) -> str:
    """What an edit changed, as one sentence with each part once."""
    return "; ".join(dict.fromkeys(descriptions)) + "."
