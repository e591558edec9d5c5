"""The exception that ended a program: its kind, its message, and the user's own line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.core.nouns import CRASHES, Event, Finding, Place, Run
from traindx.core.number_text import short
from traindx.core.tracebacks import CodeLine, Traceback, from_data

_LONGEST = 160


@dataclass(frozen=True)
class Crash:
    """An exception that ended a run; `errors` counts all that were reported."""

    event: Event
    traceback: Traceback
    moment: str
    errors: int = 1

    @property
    def message(self) -> str:
        """The exception as Python prints it, in one line."""
        return (self.event.text.strip().rstrip(".") or self.traceback.line or "an exception")[:_LONGEST]

    @property
    def frame(self) -> CodeLine | None:
        """The deepest line of the user's own code."""
        return self.traceback.frames[-1] if self.traceback.frames else None

    @property
    def places(self) -> tuple[Place, ...]:
        """The user's own lines, the deepest first."""
        return tuple(Place(frame.file, frame.line) for frame in reversed(self.traceback.frames))

    def matches(self, patterns: Sequence[str]) -> re.Match[str] | None:
        """The first of the patterns that the kind and message fit."""
        text = f"{self.event.text}\n{self.traceback.kind}: {self.traceback.message}"
        return next((hit for pattern in patterns if (hit := re.search(pattern, text, re.IGNORECASE))), None)

    def finding(self, reason: str, *, strength: float = 1.0) -> Finding:
        """What a detector reports of it: where, what, and the reason it knows."""
        location = ""
        if self.frame is not None:
            inside = self.frame.function
            function = f" in {inside}" if inside and not inside.startswith("<") else ""
            location = f" at {self.frame.file.rpartition('/')[2]}:{self.frame.line}{function}"
        sentence = f"The program ended with an error {self.moment}{location}: {self.message}."
        return Finding(
            f"{sentence} {reason}".strip(),
            symptom="crash",
            severity="critical",
            step=self.event.step,
            strength=strength,
            numbers={"errors": self.errors},
            places=self.places,
        )


def crash_of(run: Run, span: tuple[float, float], *, later_run_share: float = 0.02) -> Crash | None:
    """The exception that ended a run; None where it continued for a share of its length, or was resumed."""
    errors = [event for event in run.events if event.kind in CRASHES]
    if not errors or errors[-1].data.get("continued"):
        return None
    last = errors[-1]
    begin, end = span
    if last.step is not None and end - last.step > later_run_share * (end - begin):
        return None
    if any(event.kind == "resume" for event in run.events[run.events.index(last) :]):
        return None
    count = run.points
    moment = f"after {count} values" if count else "after 0 steps"
    moment = f"at {run.axis} {short(last.step)}" if last.step is not None else moment
    return Crash(last, from_data(last.data, last.text), moment, len(errors))
