"""A checklist on the terminal: failures first, then each group with its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.experiment.preflight.check import CheckAnswer, Item
from traindx.experiment.preflight.result import GROUPS, Checklist
from traindx.report.layout import Screen, cells, wrapped
from traindx.report.text import count, lasting, visible

_MARKS = {"pass": ("ok", "green"), "fail": ("FAIL", "alarm"), "unknown": ("?", "yellow")}
_MARK_WIDTH = 4
_INDENT = " " * (2 + _MARK_WIDTH + 4)


def render_checklist(checklist: Checklist, name: str, screen: Screen) -> list[str]:
    """All lines, from the head to the total."""
    lines = [screen.paint(f"Preflight of {visible(name, 80)}", "title"), ""]
    if checklist.failures:
        lines.append(screen.paint("Failed", "bold"))
        said: set[str] = set()
        for item, answer in checklist.failures:
            lines += _row(item, answer, screen, advice=True)
            if answer.do not in said:
                lines += _advice(answer, screen)
            said.add(answer.do)
        lines.append("")
    for group, title in GROUPS.items():
        rows = [
            (item, answer)
            for item, answer in checklist.answers
            if item.group == group and answer.status != "fail"
        ]
        if rows:
            lines.append(screen.paint(title, "bold"))
            for item, answer in rows:
                lines += _row(item, answer, screen)
            lines.append("")
    return [*lines, *_total(checklist, screen)]


def _row(item: Item, answer: CheckAnswer, screen: Screen, *, advice: bool = False) -> Iterator[str]:
    word, style = _MARKS[answer.status]
    title = screen.paint(item.title, "bold" if advice else "")
    head = f"  {screen.paint(word.ljust(_MARK_WIDTH), style)}  {title}"
    text = screen.plain(visible(answer.text))
    if cells(f"  {word.ljust(_MARK_WIDTH)}  {item.title}: ") + cells(text) <= screen.width:
        yield f"{head}: {text}"
    else:
        yield head
        yield from wrapped(text, screen.width, first=_INDENT, rest=_INDENT)


def _advice(answer: CheckAnswer, screen: Screen) -> Iterator[str]:
    """What to do about a failure, and where to read on."""
    arrow = screen.plain("→ ")
    if answer.do:
        do = screen.plain(visible(answer.do))
        yield from wrapped(do, screen.width, first=_INDENT + arrow, rest=_INDENT + " " * cells(arrow))
    if answer.cause:
        yield _INDENT + "  " + screen.paint(f"traindx explain {answer.cause}", "dim")


def _total(checklist: Checklist, screen: Screen) -> Iterator[str]:
    parts = [
        count(checklist.count("pass"), "check passed", "checks passed"),
        f"{checklist.count('fail')} failed",
        f"{checklist.count('unknown')} could not be told",
    ]
    arms = count(len(checklist.attempts), "run")
    text = f"{', '.join(parts)}, from {arms} of the script in {lasting(checklist.seconds)}."
    yield screen.paint(text, "good" if checklist else "alarm")
    for note in checklist.notes:
        yield screen.paint(visible(note), "dim")
