"""What the output goes to: a terminal or a pipe, its colours, its letters."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from traindx.doctor.line import DoctorLine, Surroundings

SUBJECT = "terminal"


def lines(place: Surroundings) -> Iterator[DoctorLine]:
    stdout = sys.stdout
    kind = "a terminal" if stdout is not None and stdout.isatty() else "a pipe or a file"
    colour = "no colours (NO_COLOR)" if place.environ.get("NO_COLOR") else "colours on terminals"
    encoding = (getattr(stdout, "encoding", None) or "ascii").lower()
    fact = f"Output goes to {kind}, {encoding}; {colour}."
    if encoding.replace("-", "") != "utf8":
        advice = "export PYTHONIOENCODING=utf-8: a progress bar or a name with other letters ends a training."
        yield DoctorLine("terminal", SUBJECT, "note", fact, advice)
    else:
        yield DoctorLine("terminal", SUBJECT, "ok", fact)
