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
    seen: set[tuple[str, str, int | None]] = set()
    for one in linted:
        for finding in one.findings:
            first = finding.places[0] if finding.places else None
            key = (finding.id, first.file if first else one.path, first.line if first else None)
            if key not in seen:
                seen.add(key)
                blocks += _finding(one, finding)
    return lines([*blocks, *_total(linted, len(seen), unread)], screen)


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


def _total(linted: Sequence[Linted], found: int, unread: int) -> Iterator[Block]:
    scripts = count(sum(one.checked for one in linted), "script")
    safe = sum(one.fixable for one in linted)
    if found:
        fixes = f"; --fix fixes {safe:,}." if safe else "."
        yield Text(f"{count(found, 'finding')} in {scripts}{fixes}", "whole")
    yield from _coverage(linted, found)
    lost = sum(not one.script.trace.complete for one in linted)
    if lost:
        yield Text(f"{count(lost, 'script')} too large to be followed to the end.", "whole")
    if unread:
        yield Text(f"{count(unread, 'file')} could not be read.", "whole")


def _coverage(linted: Sequence[Linted], found: int) -> Iterator[Block]:
    """What was checked and what was not: a script that could not be followed is not one without faults."""
    checked = [one for one in linted if one.checked]
    if checked and not found:
        ran = max(sum(check.status == "ran" for check in one.checks) for one in checked)
        left = max(len(one.checks) for one in checked) - ran
        rest = f"; {left} found nothing to check (--json says what each needs)" if left else ""
        yield Text(
            f"Nothing found in {count(len(checked), 'script')}: {count(ran, 'check')} ran{rest}.", "whole"
        )
    unchecked = [one.path for one in linted if not one.checked]
    if unchecked:
        names = first_names(unchecked, 3)
        yield Text(f"Not checked because no training loop was found in the source: {names}.", "whole")
        yield Text("traindx run measures the training itself.", "whole")
