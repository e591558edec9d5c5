"""What a script's source shows, as a linter tells it: place, name, why, and the edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.core.nouns import Finding
from traindx.evidence.lint import Linted
from traindx.report.layout import Screen, wrapped
from traindx.report.place_words import kind_of_line, patch_lines
from traindx.report.text import count, visible
from traindx.source.edits import diff

_COLOURS = {"critical": "alarm", "high": "alarm", "medium": "warning", "low": "dim"}
_DIFF = {"add": "green", "remove": "red", "head": "dim", "": ""}
_GRADES = {
    "safe": "--fix applies this edit:",
    "ask": "An edit to look at before you make it:",
    "show": "A sketch of the edit:",
}


def render_lint(linted: Sequence[Linted], unread: int, screen: Screen) -> list[str]:
    """Every finding, and a line that counts them."""
    lines: list[str] = []
    told: set[tuple[str, str, int | None]] = set()
    for one in linted:
        for finding in one.findings:
            first = finding.places[0] if finding.places else None
            key = (finding.id, first.file if first else one.path, first.line if first else None)
            if key not in told:
                told.add(key)
                lines += [*_finding(one, finding, screen), ""]
    return [*lines, *_total(linted, len(told), unread, screen)]


def _finding(linted: Linted, finding: Finding, screen: Screen) -> Iterator[str]:
    first = finding.places[0] if finding.places else None
    place = f"{first.file}:{first.line}" if first is not None and first.line else linted.path
    weight = finding.severity if finding.symptom is not None else "note"
    head = f"{screen.paint(visible(place), 'bold')}: {screen.paint(weight, _COLOURS[finding.severity])}"
    yield f"{head} {screen.paint(finding.id, 'cyan')}"
    _, _, why = finding.text.partition(": ")
    for line in wrapped(screen.plain(visible(why or finding.text)), screen.width - 2):
        yield "  " + line
    if finding.edits:
        yield "  " + screen.paint(_GRADES[min(e.grade for e in finding.edits)], "dim")
        for line in patch_lines(diff(linted.script, finding.edits))[2:]:
            yield "    " + screen.paint(screen.plain(line), _DIFF[kind_of_line(line)])


def _total(linted: Sequence[Linted], found: int, unread: int, screen: Screen) -> Iterator[str]:
    scripts = count(sum(one.checked for one in linted), "script")
    safe = sum(one.fixable for one in linted)
    if found:
        yield f"{count(found, 'finding')} in {scripts}" + (f"; --fix fixes {safe:,}." if safe else ".")
        yield screen.paint("traindx explain ID tells more; # traindx: ignore[ID] silences a line.", "dim")
    yield from _coverage(linted, found)
    lost = sum(not one.script.trace.complete for one in linted)
    if lost:
        yield f"{count(lost, 'script')} too large to be followed to the end."
    if unread:
        yield f"{count(unread, 'file')} could not be read."


def _coverage(linted: Sequence[Linted], found: int) -> Iterator[str]:
    """What was checked and what was not: a script that could not be followed is not one without faults."""
    checked = [one for one in linted if one.checked]
    if checked and not found:
        ran = max(sum(check.status == "ran" for check in one.checks) for one in checked)
        left = max(len(one.checks) for one in checked) - ran
        rest = f"; {left} found nothing to check (--json says what each needs)" if left else ""
        yield f"Nothing found in {count(len(checked), 'script')}: {count(ran, 'check')} ran{rest}."
    unchecked = [visible(one.path, 60) for one in linted if not one.checked]
    if unchecked:
        names = ", ".join(unchecked[:3]) + (f" and {len(unchecked) - 3} more" if len(unchecked) > 3 else "")
        yield f"Not checked because no training loop was found in the source: {names}."
        yield "traindx run measures the training itself."
