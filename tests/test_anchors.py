"""The line that a cause names in scripts of many styles: one of those marked `# here`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import places
from traindx.knowledge.catalogue import causes
from traindx.knowledge.cause_places import place_of
from traindx.source import Script
from traindx.source.anchors import FINDERS
from traindx.source.script import parse_script
from traindx.testing.sketch import run

SCRIPTS = sorted((Path(__file__).parent / "places").glob("*.py"))
MARK = "  # here"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_line_that_a_cause_names(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    right = [at for at, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    cause = causes()[re.findall(r"# cause: (\w+)", text)[0]]
    script = parse_script(text.replace(MARK, ""))
    place = place_of(cause, found(script, set(cause.evidence)), script)
    assert place is not None
    assert place.line in right


def test_causes_name_only_lines_that_can_be_found() -> None:
    assert {name for cause in causes().values() for name in cause.where} <= set(FINDERS)


def found(script: Script, wanted: set[str]) -> list[Finding]:
    """What the source alone shows of a cause."""
    case, seen = Case(run({}), script), list[Finding]()
    for unit in detectors():
        if unit.needs == ("script",) and unit.id in wanted:
            looked = places(unit, case)
            seen += [] if isinstance(looked, Skipped) else looked
    return seen
