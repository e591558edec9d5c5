"""Many runs at a glance, worst first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.core.names.short_names import without_shared
from traindx.core.nouns import Diagnosis
from traindx.evidence.phase import of_one_script, phase_text, worst_first
from traindx.report.answer import answer_lines
from traindx.report.cells import curve
from traindx.report.document import Block, Cell, DocumentTable, Span, TableColumn, Text
from traindx.report.layout import Screen, fit
from traindx.report.text import percent, visible
from traindx.report.titles import symptom_title
from traindx.report.to_terminal import lines
from traindx.report.wording import beginning, grade, leading, look, place_of, tally

_LONG = 40
_HEALTHY_SHOWN = 10
_WIDE = 90
_CURVE = 12
_PHASES_MOST = 30


def triage(diagnoses: Sequence[Diagnosis], screen: Screen, *, everything: bool = False) -> list[str]:
    """The counts, then a line per run; of many healthy runs only some, unless all are asked for."""
    if len(diagnoses) <= _PHASES_MOST and of_one_script([diagnosis.run for diagnosis in diagnoses]):
        return phases(diagnoses, screen, everything=everything)
    ordered = worst_first(diagnoses)
    healthy = sum(diagnosis.verdict == "healthy" for diagnosis in ordered)
    hidden = healthy - _HEALTHY_SHOWN if len(ordered) > _LONG and not everything else 0
    listed = ordered[: len(ordered) - max(hidden, 0)]
    counts: list[Block] = [Text(Span(tally(diagnoses), look="strong"), "whole")]
    shown_lines = [*lines(counts, screen), "", *lines([triage_table(listed, {}, screen.width)], screen)]
    if hidden > 0:
        shown_lines.append(screen.paint(f"  and {hidden:,} more that are healthy; --all shows them", "dim"))
    return shown_lines if len(shown_lines) <= _LONG else [*shown_lines, "", *lines(counts, screen)]


def phases(diagnoses: Sequence[Diagnosis], screen: Screen, *, everything: bool = False) -> list[str]:
    """The trainings of one script: the worst in full unless all are healthy, then a line for each."""
    worst = worst_first(diagnoses)[0]
    lead = f"; the worst is {phase_text(worst.run)}" if worst.verdict != "healthy" else ""
    counts: list[Block] = [Text(Span(f"{tally(diagnoses)}{lead}", look="strong"), "whole")]
    worst_lines = ["", *answer_lines(worst, screen)] if lead and not everything else []
    table = triage_table(sorted(diagnoses, key=_number), {}, screen.width)
    return [*lines(counts, screen), *worst_lines, "", *lines([table], screen)]


def _number(diagnosis: Diagnosis) -> int:
    return diagnosis.run.phase.number if diagnosis.run.phase is not None else 0


def triage_table(diagnoses: Sequence[Diagnosis], links: Mapping[int, str], width: int = 120) -> DocumentTable:
    """A row per run; `links` lead from a diagnosis to its full report."""
    run, symptom, cause = (22, 14, 23) if width >= _WIDE else (14, 10, 10)
    columns = (
        TableColumn("verdict"),
        TableColumn("run", least=run, keep="end", style="bold"),
        TableColumn("what", least=symptom),
        TableColumn("most likely", least=cause),
        TableColumn("confidence" if links else "", "right"),
        TableColumn("onset", "right", least=0),
        TableColumn("points", "right", least=0, style="dim"),
        TableColumn("fix first" if links else "", least=0, style="curve"),
    )
    names = short_names([diagnosis.run.name for diagnosis in diagnoses], run if not links else 120)
    rows = [_row(diagnosis, name, links) for diagnosis, name in zip(diagnoses, names, strict=True)]
    return DocumentTable(columns, tuple(rows), look="triage", filtered=bool(links))


def _row(diagnosis: Diagnosis, name: str, links: Mapping[int, str]) -> tuple[Cell, ...]:
    run = diagnosis.run
    symptom = likely = sure = began = fix = ""
    if diagnosis.problems:
        problem, *others = diagnosis.problems
        symptom = symptom_title(problem.symptom) + (f" +{len(others)}" if others else "")
        first = leading(problem)
        if diagnosis.verdict != "problem":
            symptom = f"({beginning(symptom)})"
        elif first is not None:
            likely, sure = first.title, percent(first.confidence)
            fix = first.fixes[0].summary if first.fixes else ""
        else:
            likely = "cause open" if problem.hypotheses else ""
        if problem.onset_step is not None and diagnosis.verdict == "problem":
            began = place_of(run, problem.onset_step).removeprefix("step ")
    elif links and diagnosis.reasons:
        symptom = diagnosis.reasons[0]
    state = Span(grade(diagnosis), "badge" if links else "", look(diagnosis))
    last: Cell = fix if links else curve(run, _CURVE) or ""
    lead = Span(name, link=links.get(id(diagnosis), "")) if links else Span(name)
    return state, lead, symptom, likely, sure, began, f"{run.points:,}", last


def short_names(names: Sequence[str], room: int) -> list[str]:
    """The names without the folder and the file name that all share.

    Ends tell runs apart best; where the room makes ends alike, what differs is shown instead.
    """
    labels = [visible(name[-2000:], 400) for name in names]
    labels = without_shared(labels) if len(set(labels)) > 1 else labels
    alike: dict[str, list[int]] = {}
    for number, name in enumerate(labels):
        alike.setdefault(fit(name, room, "end"), []).append(number)
    for group in alike.values():
        low, high = min(labels[n] for n in group), max(labels[n] for n in group)
        shared = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
        if low != high:
            for number in group:
                part = labels[number] if shared == 0 else f"…{labels[number][shared:]}"
                labels[number] = fit(part, room)
    return labels
