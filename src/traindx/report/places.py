"""Places in a source and the edits there, in the same words in every report."""

from __future__ import annotations

import os
import shlex

from traindx.core.nouns import Finding, Place, Run
from traindx.report.text import visible

_FILE_LONGEST, _LAYER_LONGEST, _LINE_LONGEST = 80, 60, 160
_PLACES_SHOWN = 3


def line_of(place: Place) -> str:
    """`train.py:12`; empty when no file is known."""
    if not place.file:
        return f"line {place.line}" if place.line is not None else ""
    file = from_here(place.file)
    file = file if len(file) <= _FILE_LONGEST else "…" + file[1 - _FILE_LONGEST :]
    return visible(file if place.line is None else f"{file}:{place.line}")


def from_here(file: str) -> str:
    """A file below the working directory by its relative path."""
    here = os.path.join(os.getcwd(), "")
    return file.removeprefix(here) if file.startswith(here) else file


def program_words(run: Run) -> list[str]:
    """The words behind `python` that a recording was made with; none for a log."""
    command = run.facts.get("command")
    try:
        return shlex.split(command)[1:] if isinstance(command, str) else []
    except ValueError:
        return []


def layer_of(place: Place) -> str:
    return visible(place.layer, _LAYER_LONGEST)


def place_text(place: Place | None) -> str:
    """`train.py:12, layer fc1`; empty when nothing is known."""
    if place is None:
        return ""
    parts = [line_of(place), f"layer {layer_of(place)}" if place.layer else ""]
    return ", ".join(part for part in parts if part)


def places_text(finding: Finding) -> str:
    """The first places of a finding, those that its sentence does not name already."""
    texts = dict.fromkeys(place_text(place) for place in finding.places)
    fresh = [text for text in texts if text and text not in finding.text]
    further = len(fresh) - _PLACES_SHOWN
    return "; ".join(fresh[:_PLACES_SHOWN]) + (f" and {further:,} more" if further > 0 else "")


def diff_lines(patch: str) -> list[str]:
    """Lines as git counts them: a form feed in a source ends none."""
    return patch.removesuffix("\n").split("\n") if patch else []


def patch_lines(patch: str | None, most: int | None = None) -> list[str]:
    """The lines of a diff with nothing hidden in them; what is left out is counted."""
    lines = [_diff_line(line) for line in diff_lines(patch or "")]
    if most is None or len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"... {len(lines) - most + 1:,} more lines"]


def kind_of_line(line: str) -> str:
    """`add`, `remove`, `head` or nothing: what a line of a diff is."""
    if line.startswith(("@@", "--- ", "+++ ")):
        return "head"
    return {"+": "add", "-": "remove"}.get(line[:1], "")


def _diff_line(line: str) -> str:
    return visible(line.expandtabs(4).rstrip(), _LINE_LONGEST)
