"""A checklist of `traindx preflight`: failures first, then each group with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.experiment.preflight.check import CheckAnswer, Item
from traindx.experiment.preflight.result import GROUPS, Checklist
from traindx.report.document import Block, DocumentTable, Labelled, Section, Span, TableColumn, Text
from traindx.report.layout import Screen
from traindx.report.text import count, lasting
from traindx.report.to_terminal import lines

_MARKS = {
    "pass": Span("ok", look="green"),
    "fail": Span("FAIL", look="alarm"),
    "unknown": Span("?", look="yellow"),
}


def render_checklist(checklist: Checklist, name: str, screen: Screen) -> list[str]:
    return lines(_blocks(checklist, name), screen)


def _blocks(checklist: Checklist, name: str) -> Iterator[Block]:
    yield Text(f"Preflight of {name}", "title")
    if checklist.failures:
        yield Section("Failed", tuple(_failures(checklist)))
    for group, title in GROUPS.items():
        rows = [(item, a) for item, a in checklist.answers if item.group == group and a.status != "fail"]
        if rows:
            yield Section(title, (_table(rows),))
    yield from _total(checklist)


def _table(rows: Sequence[tuple[Item, CheckAnswer]]) -> DocumentTable:
    columns = (TableColumn(""), TableColumn("", style="bold"), TableColumn("", wrap=True))
    return DocumentTable(columns, tuple((_MARKS[a.status], item.title, a.text) for item, a in rows))


def _failures(checklist: Checklist) -> Iterator[Block]:
    advised: set[str] = set()
    for item, answer in checklist.failures:
        yield _table([(item, answer)])
        if answer.do and answer.do not in advised:
            yield Labelled("to do", answer.do)
        if answer.cause and answer.do not in advised:
            yield Labelled("", f"traindx explain {answer.cause}", "dim")
        advised.add(answer.do)


def _total(checklist: Checklist) -> Iterator[Block]:
    passed = count(checklist.count("pass"), "check passed", "checks passed")
    rest = f"{checklist.count('fail')} failed, {checklist.count('unknown')} could not be judged"
    attempts = [attempt for attempt in checklist.attempts if attempt.ended != "not run"]
    runs = f"{count(len(attempts), 'run')} of the script in {lasting(checklist.seconds)}"
    yield Text(Span(f"{passed}, {rest}, from {runs}.", look="good" if checklist else "alarm"), "whole")
    yield from (Text(Span(note, "muted"), "whole") for note in checklist.notes)
