"""What a script's source shows, as a linter reports it: place, name, why, and the edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.core.nouns import Finding
from traindx.evidence.lint import Linted
from traindx.report.document import Block, Diff, Preformatted, Span, Text
from traindx.report.layout import Screen
from traindx.report.places import patch_lines
from traindx.report.text import count, first_names
from traindx.report.to_terminal import lines
from traindx.source.edits import diff

_GRADES = {
    "safe": "--fix applies this edit:",
    "ask": "An edit to read before you make it:",
    "show": "A sketch of the edit:",
}


def render_lint(linted: Sequence[Linted], unread: int, screen: Screen) -> list[str]:
    """Every finding, and a line that counts them."""
    blocks: list[Block] = []
    keys: set[tuple[str, str, int | None]] = set()
    for script in linted:
        for finding in script.findings:
            first = finding.places[0] if finding.places else None
            key = (finding.id, first.file if first else script.path, first.line if first else None)
            if key not in keys:
                keys.add(key)
                blocks += _finding(script, finding)
    return lines([*blocks, *_total(linted, len(keys), unread)], screen)


def _finding(linted: Linted, finding: Finding) -> Iterator[Block]:
    first = finding.places[0] if finding.places else None
    place = f"{first.file}:{first.line}" if first is not None and first.line else linted.path
    weight = finding.severity if finding.symptom is not None else "note"
    yield Text(
        (
            Span(place, "strong"),
            ": ",
            Span(weight, look=finding.severity),
            " ",
            Span(finding.id, look="cyan"),
        ),
        "line",
    )
    _, _, why = finding.text.partition(": ")
    yield Text(Span(why or finding.text))
    if finding.edits:
        yield Text(_GRADES[min(edit.grade for edit in finding.edits)], "dim")
        yield Diff(tuple(patch_lines(diff(linted.script, finding.edits))[2:]))
    yield Preformatted((("", ""),))


def _total(linted: Sequence[Linted], findings: int, unread: int) -> Iterator[Block]:
    scripts = count(sum(script.checked for script in linted), "script")
    safe = sum(script.fixable for script in linted)
    if findings:
        fixes = f"; --fix fixes {safe:,}." if safe else "."
        yield Text(f"{count(findings, 'finding')} in {scripts}{fixes}", "whole")
    yield from _coverage(linted, findings)
    lost = sum(not script.script.trace.complete for script in linted)
    if lost:
        yield Text(f"{count(lost, 'script')} too large to be followed to the end.", "whole")
    if unread:
        yield Text(f"{count(unread, 'file')} could not be read.", "whole")


def _coverage(linted: Sequence[Linted], findings: int) -> Iterator[Block]:
    """What was checked and what was not: a script that could not be followed is not one without faults."""
    checked = [script for script in linted if script.checked]
    if checked and not findings:
        ran = max(sum(check.status == "ran" for check in script.checks) for script in checked)
        idle = max(len(script.checks) for script in checked) - ran
        rest = f"; {idle} found nothing to check (--json says what each needs)" if idle else ""
        yield Text(
            f"Nothing found in {count(len(checked), 'script')}: {count(ran, 'check')} ran{rest}.", "whole"
        )
    unchecked = [script.path for script in linted if not script.checked]
    if unchecked:
        names = first_names(unchecked, 3)
        yield Text(f"Not checked because no training loop was found in the source: {names}.", "whole")
        yield Text("traindx run measures the training itself.", "whole")
