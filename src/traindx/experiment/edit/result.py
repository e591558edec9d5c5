"""The result of turning a change into source: an edit, or an instruction for one line."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from traindx.core.nouns import Edit, Place
from traindx.source.script import Script
from traindx.source.values import Spot


@dataclass(frozen=True)
class Edited:
    """A change as an edit.

    `edits` are the lines, of the script or of a configuration it reads; `sources` the whole new text of
    each file, in its own kind of line ends; `args` the new command line where that is what changes.
    """

    edits: tuple[Edit, ...]
    text: str
    args: tuple[str, ...] | None = None
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class Instruction:
    """What to do by hand where no edit is certain, and on which line."""

    text: str
    place: Place | None = None


class Uncertain(Exception):
    """No edit is certain; the message says what to do by hand, and `where`."""

    def __init__(self, text: str, place: Place | Spot | ast.AST | None = None) -> None:
        super().__init__(text)
        self._where = place

    def instruction(self, script: Script) -> Instruction:
        place = self._where
        if isinstance(place, ast.AST):
            place = Spot(script.source_of(place), place)
        return Instruction(
            str(self), Place(place.source.path, place.line) if isinstance(place, Spot) else place
        )


def sentence(descriptions: Iterable[str], otherwise: str = "", place: Place | None = None) -> str:
    """What an edit changed, as one sentence with each part once; Uncertain with `otherwise` for nothing."""
    parts = list(dict.fromkeys(descriptions))
    if otherwise and not parts:
        raise Uncertain(otherwise, place)
    return "; ".join(parts) + "."
