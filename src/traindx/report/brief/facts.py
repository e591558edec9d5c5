"""The page: facts with their handles, cut to a number of tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traindx.core.nouns import Diagnosis, Finding
from traindx.core.number_text import readable
from traindx.report.document import DocumentTable
from traindx.report.text import count, visible

TOKENS = 1200
_LONGEST = 320
_CHARACTERS_PER_TOKEN = 3.5
# What tokenizers split text into at the least: parts of words, groups of digits, single signs.
_PIECES = re.compile(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_")
_HANDLE = re.compile(r"[Ff]?(\d+)(?:\.[Ff]?(\d+))?")
_NAMED_MOST = 8


def estimated_tokens(text: str) -> int:
    """At least as many as a tokenizer makes: a token for 3.5 characters, or for each piece of a word
    (6 letters), group of digits (3) and sign, whichever is more."""
    return max(math.ceil(len(text) / _CHARACTERS_PER_TOKEN), len(_PIECES.findall(text)))


@dataclass(frozen=True, eq=False)
class BriefFact:
    """One thing that was measured, and what is behind it: series, a table, a picture of the inside.

    `keep` says how long it stays when tokens are short. Of a folder, `diagnosis` is the run it is about.
    """

    label: str
    text: str
    keep: int = 5
    series: tuple[str, ...] = ()
    table: DocumentTable | None = None
    picture: str = ""
    finding: Finding | None = None
    place: str = ""
    diagnosis: Diagnosis | None = None

    @property
    def line(self) -> str:
        """`label: text (place)` on one line, fit to be shown."""
        text = visible(readable(self.text), _LONGEST)
        return f"{self.label}: {text}" + (f" [{self.place}]" if self.place else "")


class UnknownHandle(ValueError):
    """No fact has this handle; the message is one line for the user."""


@dataclass(frozen=True, eq=False)
class Brief:
    """All facts of a run, or of a folder of runs, in their order: handles are places in it.

    `diagnosis` is that of the one run they are about, `within` its number in a folder. `str()` is the page
    of `tokens` at most.
    """

    facts: tuple[BriefFact, ...]
    path: str
    tokens: int = TOKENS
    diagnosis: Diagnosis | None = None
    within: int | None = None

    def handle(self, number: int) -> str:
        return f"F{number}" if self.within is None else f"F{self.within}.{number}"

    def items(self) -> Iterator[tuple[str, BriefFact]]:
        return ((self.handle(number), fact) for number, fact in enumerate(self.facts, 1))

    def at(self, number: int) -> BriefFact:
        if not 1 <= number <= len(self.facts):
            last = self.handle(len(self.facts))
            raise UnknownHandle(
                f"{self.handle(number)} is no fact of {visible(self.path, 120)}: they go from "
                f"{self.handle(1)} to {last}. 'traindx brief' lists them."
            )
        return self.facts[number - 1]

    def lines(self) -> list[str]:
        """What fits, and a last line that counts what does not."""
        ranked_lines = [(f"{handle} {fact.line}", fact.keep) for handle, fact in self.items()]
        places = _fitting([line for line, _ in ranked_lines], [keep for _, keep in ranked_lines], self.tokens)
        if len(places) == len(ranked_lines):
            return [line for line, _ in ranked_lines]
        omitted = [self.handle(at + 1) for at in range(len(ranked_lines)) if at not in places]
        handles = ", ".join(omitted[:_NAMED_MOST]) + (", ..." if len(omitted) > _NAMED_MOST else "")
        left_out = f"{count(len(omitted), 'fact')} left out for lack of tokens ({handles})"
        last = f"{left_out}: {self._more(ranked_lines)}"
        return [*(ranked_lines[at][0] for at in sorted(places)), last]

    def _more(self, ranked_lines: Sequence[tuple[str, int]]) -> str:
        """How to get the rest."""
        needed = sum(estimated_tokens(line) + 1 for line, _ in ranked_lines)
        if self.within is not None:
            return "'traindx show' with a handle shows each."
        return f"--tokens {math.ceil(needed / 100) * 100} shows them, 'traindx show' with a handle each."

    def __str__(self) -> str:
        return "\n".join(self.lines())


def numbers_of(handle: str) -> tuple[int, int | None]:
    """`F7` is 7, `F3.7` the seventh fact of the third run of a folder; raises UnknownHandle."""
    match = _HANDLE.fullmatch(handle.strip())
    if match is None:
        raise UnknownHandle(f"{visible(handle, 40)!r} is no handle: give one of 'traindx brief', like F7.")
    return int(match[1]), int(match[2]) if match[2] else None


def _fitting(lines: Sequence[str], keeps: Sequence[int], tokens: int) -> set[int]:
    """Which lines fit, those first that are to be kept longest; at least one."""
    costs = [estimated_tokens(line) + 1 for line in lines]
    if sum(costs) <= tokens:
        return set(range(len(lines)))
    room = tokens - 60  # the last line
    places: set[int] = set()
    for at in sorted(range(len(lines)), key=lambda at: (-keeps[at], at)):
        if costs[at] <= room or not places:
            places.add(at)
            room -= costs[at]
    return places
