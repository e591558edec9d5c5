"""Diagnoses as documents: one run in full, or many behind a table, for every surface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from traindx.core.nouns import Diagnosis, Event, Run
from traindx.core.number_text import readable
from traindx.evidence.phase import phase_text, worst_first
from traindx.report import document as doc
from traindx.report.answer import answer, answer_lines, seen_at
from traindx.report.architecture import architecture_section
from traindx.report.checked import checked_sections
from traindx.report.coverage_words import blind_spots, checks_run, not_checked
from traindx.report.document import code, listed
from traindx.report.inside import inside_parts
from traindx.report.inside_words import inside_sentences
from traindx.report.layout import Screen
from traindx.report.measured import case_of
from traindx.report.panels import curves_of
from traindx.report.problem import issue_table, problem_section, ranked_causes
from traindx.report.summary import epochs_completed, final_losses, run_facts
from traindx.report.text import count, short, value_text
from traindx.report.titles import finding_title
from traindx.report.to_terminal import lines
from traindx.report.triage import triage_table
from traindx.report.wording import (
    further_signs,
    grade,
    look,
    minor,
    sentence,
    shown_problems,
    tally,
    verdict_sentences,
    verdict_word,
)

_DETAILED_MOST = 200
_SETTINGS_SHOWN = 16
_NOTES_SHOWN, _NOTE_LONGEST = 30, 400
_CHARTS_COLUMNS, _CHARTS_ROWS = 120, 240
_COLOURS = {"critical": "#e0474c", "high": "#e0474c", "medium": "#db6b12", "healthy": "#2e9560"}
ABOUT = (
    "Confidence is the probability that a cause is the root of its problem. Evidence is weighed in bits: "
    "each bit doubles the odds of a cause against its rivals."
)


def render_diagnosis(diagnosis: Diagnosis, *, everything: bool, screen: Screen) -> list[str]:
    """One run on a terminal: the answer, or the full report."""
    return lines(run_blocks(diagnosis), screen) if everything else answer_lines(diagnosis, screen)


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    from traindx.report.to_markdown import markdown

    return markdown(document(diagnoses))


def html_document(diagnoses: Sequence[Diagnosis]) -> str:
    from traindx.report.to_html import page

    return page(document(diagnoses))


def write_html(diagnoses: Sequence[Diagnosis], path: Path) -> None:
    path.write_text(html_document(diagnoses), encoding="utf-8", newline="\n")


def notebook_html(diagnosis: Diagnosis) -> str:
    """What a notebook shows: the answer, and the rest to be opened."""
    from traindx.report.to_notebook import fragment

    details = doc.Details("All causes, evidence and checks", run_blocks(diagnosis, charts=False))
    return fragment([*answer(diagnosis), details], _COLOURS.get(grade(diagnosis), "#7d8590"))


def document(diagnoses: Sequence[Diagnosis]) -> doc.Document:
    """One run in full, or many behind a table, worst first."""
    if len(diagnoses) == 1:
        run = diagnoses[0].run
        body = run_blocks(diagnoses[0], "run-1")
        return doc.Document(("Diagnosis of ", code(run.name)), "diagnosis", body, ABOUT, "run-1")
    ordered = worst_first(diagnoses)
    runs = [
        doc.Section(
            code(diagnosis.run.name),
            run_blocks(diagnosis, f"run-{number}"),
            f"run {look(diagnosis)}",
            f"run-{number}",
            folded=True,
            own_charts=True,
            facts=(doc.Span(grade(diagnosis), "badge", look(diagnosis)),),
        )
        for number, diagnosis in enumerate(ordered[:_DETAILED_MOST], 1)
    ]
    links = {id(diagnosis): section.anchor for diagnosis, section in zip(ordered, runs, strict=False)}
    blocks: list[doc.Block] = [doc.Text(doc.Span(tally(ordered)))]
    if ordered:
        blocks.append(triage_table(ordered, links))
    if len(runs) < len(ordered):
        note = f"The {len(runs):,} worst runs follow in full; diagnose a run alone to see all about it."
        blocks.append(doc.Text(doc.Span(note, "muted")))
    title = f"Diagnosis of {count(len(ordered), 'run')}"
    return doc.Document(title, "diagnosis", (*blocks, *runs), ABOUT)


def run_blocks(diagnosis: Diagnosis, anchor: str = "run", *, charts: bool = True) -> tuple[doc.Block, ...]:
    """The full report about a run."""
    return tuple(_run_blocks(diagnosis, anchor, charts))


def _run_blocks(diagnosis: Diagnosis, anchor: str, charts: bool) -> Iterator[doc.Block]:
    run, problems = diagnosis.run, shown_problems(diagnosis)
    short_answer = tuple(row for problem in problems for row in ranked_causes(problem, len(problems) > 1))
    sentences = tuple(map(doc.Span, verdict_sentences(diagnosis)))
    yield doc.Verdict(verdict_word(diagnosis), sentences, look(diagnosis), short_answer)
    yield doc.DocumentTable(
        (doc.TableColumn(""), doc.TableColumn("", wrap=True)), tuple(_facts(diagnosis)), look="facts"
    )
    if diagnosis.problems:
        yield doc.Section("Issues", (issue_table(diagnosis.problems),), "card")
    if charts and not problems:
        chart = curves_of(case_of(run), None, diagnosis.signs)
        if chart is not None:
            yield doc.Section("Curves", (doc.Chart(chart, 4),), "card")
    if diagnosis.verdict != "problem":
        title = "Why it can be believed" if diagnosis.verdict == "healthy" else "What to log"
        yield from listed(title, diagnosis.reasons, "card")
    for number, problem in enumerate(problems, 1):
        yield problem_section(
            problem, diagnosis, number if len(problems) > 1 else 0, f"{anchor}-problem-{number}", charts
        )
    noticed: list[doc.Prose] = [
        (doc.Span(sentence(problem, run)), ". ", problem.summary) for problem in minor(diagnosis)
    ]
    noticed += [seen_at(sign) for sign in further_signs(diagnosis)]
    yield from listed("Other things noticed", noticed, "card")
    yield from checked_sections(run)
    yield from architecture_section(run)
    yield from _inside(diagnosis, charts)
    if diagnosis.coverage:
        yield doc.Section("Coverage", tuple(_coverage(diagnosis)), "card", f"{anchor}-coverage")
    notes = tuple(_log_notes(run))
    if notes:
        number_of = len(run.events) + len(run.notes)
        yield doc.Details(f"Events and notes of the log ({number_of:,})", (doc.Items(notes),), look="card")


def _facts(diagnosis: Diagnosis) -> Iterator[tuple[doc.Prose, doc.Prose]]:
    run = diagnosis.run
    yield "read from", code(run.path)
    if run.phase is not None:
        yield "phase", phase_text(run)
    yield from ((name, doc.Span(text)) for name, text in run_facts(run))
    case = case_of(run)
    yield from ((f"final {name} loss", short(value)) for name, value in final_losses(case).items())
    if (epochs := epochs_completed(case)) is not None:
        yield "epochs completed", f"{epochs:,}"
    yield "evidence", ", ".join(diagnosis.evidence)
    settings = [(key, value) for key, value in run.settings.items() if value is not None]
    if settings:
        listed = [f"{key} = {value_text(value)[:60]}" for key, value in settings[:_SETTINGS_SHOWN]]
        yield "settings", doc.Span(", ".join(listed))


def _inside(diagnosis: Diagnosis, charts: bool) -> Iterator[doc.Section]:
    sentences = inside_sentences(diagnosis, everything=True)
    blocks: list[doc.Block] = [doc.Labelled(name, text) for name, text in sentences]
    if charts:
        for parts in inside_parts(case_of(diagnosis.run), _CHARTS_COLUMNS, _CHARTS_ROWS).values():
            blocks += [doc.Chart(part.drawing, 0, part.title, part.text) for part in parts]
    if blocks:
        yield doc.Section("Inside the training", tuple(blocks), "card")


def _coverage(diagnosis: Diagnosis) -> Iterator[doc.Block]:
    coverage, blind = diagnosis.coverage, blind_spots(diagnosis.coverage)
    missing = not_checked(coverage, 0).partition(" because")[0]
    yield doc.Text(
        f"{checks_run(coverage)}, {missing}. What was not checked says nothing about this run."
        if blind
        else f"{checks_run(coverage)}."
    )
    if blind:
        needs = doc.TableColumn("not checked because they need", least=24, wrap=True)
        rows = tuple((need, doc.Span(", ".join(checks))) for need, checks in blind)
        yield doc.DocumentTable((needs, doc.TableColumn("checks", wrap=True)), rows, look="coverage")
    for title, has_found in (("Found something", True), ("Found nothing", False)):
        ran = [check.check for check in coverage if check.status == "ran" and check.seen is has_found]
        if ran:
            yield doc.Details(f"{title} ({len(ran):,})", (doc.Text(", ".join(map(finding_title, ran))),))


def _log_notes(run: Run) -> Iterator[doc.Prose]:
    """Events of the run and oddities of its log."""
    yield from (doc.Span(readable(_event(event, run)[:_NOTE_LONGEST])) for event in run.events[:_NOTES_SHOWN])
    yield from (doc.Span(note.text[:_NOTE_LONGEST]) for note in run.notes[:_NOTES_SHOWN])
    omitted = max(len(run.events) - _NOTES_SHOWN, 0) + max(len(run.notes) - _NOTES_SHOWN, 0)
    if omitted:
        yield f"and {omitted:,} more"


def _event(event: Event, run: Run) -> str:
    at = "" if event.step is None else f"{run.axis} {short(event.step)}: "
    return f"{at}{event.kind.replace('_', ' ')}: {event.text}"
