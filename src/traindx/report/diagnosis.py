"""Diagnoses as documents: one run in full, or many behind a table, for every surface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from traindx.core.nouns import Diagnosis, Event, Evidence, Hypothesis, Place, Problem, Run
from traindx.core.units import readers
from traindx.knowledge.catalogue import causes
from traindx.report.answer import answer, answer_lines, seen_at, value_text
from traindx.report.document import (
    Block,
    Chart,
    Column,
    Details,
    Diff,
    Document,
    Items,
    Labelled,
    Prose,
    Section,
    Share,
    Shares,
    Span,
    Table,
    Text,
    Verdict,
    code,
    listed,
    strong,
)
from traindx.report.inside import inside_parts
from traindx.report.inside_words import inside_sentences
from traindx.report.layout import Screen
from traindx.report.measured import case_of
from traindx.report.panels import curves_of
from traindx.report.places import layer_of, line_of, patch_lines, place_text
from traindx.report.summary import duration
from traindx.report.text import count, lasting, percent, short
from traindx.report.titles import finding_title, sheet_title, symptom_title
from traindx.report.to_html import fragment, page
from traindx.report.to_markdown import markdown as to_markdown
from traindx.report.to_terminal import lines
from traindx.report.triage import triage_table
from traindx.report.wording import (
    at_step,
    bits,
    blind_spots,
    checks_run,
    further_signs,
    grade,
    leading,
    look,
    minor,
    not_checked,
    onset,
    sentence,
    shown_problems,
    tally,
    verdict_sentences,
    verdict_word,
    worst_first,
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
    """One run on a terminal: the answer, or all there is to say."""
    return lines(run_blocks(diagnosis), screen) if everything else answer_lines(diagnosis, screen)


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    return to_markdown(document(diagnoses))


def html_document(diagnoses: Sequence[Diagnosis]) -> str:
    return page(document(diagnoses))


def write_html(diagnoses: Sequence[Diagnosis], path: Path) -> None:
    path.write_text(html_document(diagnoses), encoding="utf-8", newline="\n")


def notebook_html(diagnosis: Diagnosis) -> str:
    """What a notebook shows: the answer, and the rest to be opened."""
    more = Details("All causes, evidence and checks", run_blocks(diagnosis, charts=False))
    return fragment([*answer(diagnosis), more], _COLOURS.get(grade(diagnosis), "#7d8590"))


def document(diagnoses: Sequence[Diagnosis]) -> Document:
    """One run in full, or many behind a table, worst first."""
    if len(diagnoses) == 1:
        run = diagnoses[0].run
        body = run_blocks(diagnoses[0], "run-1")
        return Document(("Diagnosis of ", code(run.name)), "diagnosis", body, ABOUT, "run-1")
    ordered = worst_first(diagnoses)
    runs = [
        Section(
            code(one.run.name),
            run_blocks(one, f"run-{number}"),
            f"run {look(one)}",
            f"run-{number}",
            folded=True,
            own_charts=True,
            facts=(Span(grade(one), "badge", look(one)),),
        )
        for number, one in enumerate(ordered[:_DETAILED_MOST], 1)
    ]
    links = {id(one): section.anchor for one, section in zip(ordered, runs, strict=False)}
    blocks: list[Block] = [Text(Span(tally(ordered)))]
    if ordered:
        blocks.append(triage_table(ordered, links))
    if len(runs) < len(ordered):
        left = f"The {len(runs):,} worst runs stand below in full; diagnose a run alone to see all about it."
        blocks.append(Text(Span(left, "muted")))
    title = f"Diagnosis of {count(len(ordered), 'run')}"
    return Document(title, "diagnosis", (*blocks, *runs), ABOUT)


def run_blocks(diagnosis: Diagnosis, anchor: str = "run", *, charts: bool = True) -> tuple[Block, ...]:
    """All there is to say about a run."""
    return tuple(_run_blocks(diagnosis, anchor, charts))


def _run_blocks(diagnosis: Diagnosis, anchor: str, charts: bool) -> Iterator[Block]:
    run, problems = diagnosis.run, shown_problems(diagnosis)
    short_answer = tuple(row for problem in problems for row in _in_short(problem, len(problems) > 1))
    sentences = tuple(map(Span, verdict_sentences(diagnosis)))
    yield Verdict(verdict_word(diagnosis), sentences, look(diagnosis), short_answer)
    yield Table((Column(""), Column("", wrap=True)), tuple(_facts(diagnosis)), look="facts")
    if charts and not problems:
        drawn = curves_of(case_of(run), None, diagnosis.signs)
        if drawn is not None:
            yield Section("Curves", (Chart(drawn, 4),), "card")
    if diagnosis.verdict != "problem":
        title = "Why it can be believed" if diagnosis.verdict == "healthy" else "What to log"
        yield from listed(title, diagnosis.reasons, "card")
    for number, problem in enumerate(problems, 1):
        yield _problem(
            problem, diagnosis, number if len(problems) > 1 else 0, f"{anchor}-problem-{number}", charts
        )
    noticed: list[Prose] = [(Span(sentence(one, run)), ". ", one.summary) for one in minor(diagnosis)]
    noticed += [seen_at(sign) for sign in further_signs(diagnosis)]
    yield from listed("Other things noticed", noticed, "card")
    yield from _inside(diagnosis, charts)
    if diagnosis.coverage:
        yield Section("Coverage", tuple(_coverage(diagnosis)), "card", f"{anchor}-coverage")
    notes = tuple(_log_notes(run))
    if notes:
        number_of = len(run.events) + len(run.notes)
        yield Details(f"Events and notes of the log ({number_of:,})", (Items(notes),), look="card")


def _in_short(problem: Problem, several: bool) -> Iterator[Block]:
    """The cause, its place and the first thing to do."""
    first = leading(problem)
    if first is None:
        return
    name = f"{symptom_title(problem.symptom)}: " if several else ""
    yield Labelled("cause", Span(f"{name}{first.title} ({percent(first.confidence)})"), "bold")
    if where := place_text(first.place):
        yield Labelled("where", code(where))
    for fix in first.fixes[:1]:
        yield Labelled("first", fix.summary)


def _facts(diagnosis: Diagnosis) -> Iterator[tuple[Prose, Prose]]:
    run = diagnosis.run
    titles = {unit.id: unit.title for unit in readers()}
    size = f"{count(len(run.series), 'series', 'series')}, {count(run.points, 'point')}"
    size += f", last {run.axis} {short(run.last_step)}" if run.last_step is not None else ""
    size += f", over {lasting(seconds)}" if (seconds := duration(run)) else ""
    yield "read from", code(run.path)
    yield "format", " + ".join(titles.get(part, part) for part in run.formats)
    yield "length", size
    yield "evidence", ", ".join(diagnosis.evidence)
    if run.traits:
        yield "kind", Span(", ".join(sorted(run.traits)))
    known = [(key, value) for key, value in run.settings.items() if value is not None]
    if known:
        shown = [f"{key} = {value_text(value)[:60]}" for key, value in known[:_SETTINGS_SHOWN]]
        yield "settings", Span(", ".join(shown))


def _problem(problem: Problem, diagnosis: Diagnosis, number: int, anchor: str, charts: bool) -> Section:
    name = f"Problem {number}: " if number else "Problem: "
    run, first = diagnosis.run, next(iter(problem.hypotheses), None)
    blocks: list[Block] = [Section("Primary symptom", tuple(_symptom(problem, run)))]
    drawn = curves_of(case_of(run), problem) if charts else None
    if drawn is not None:
        blocks.append(Chart(drawn, 4))
    blocks += listed("Findings", [seen_at(one) for one in problem.findings])
    if first is None:
        blocks.append(Section("Root cause", (Text("No known cause fits."),)))
    else:
        open_cause = leading(problem) is None
        blocks.append(Section("Root cause", tuple(_cause(first, run, open_cause=open_cause))))
        blocks += [Section("Recommended fix", fixes)] if (fixes := tuple(_fixes(first))) else []
    blocks.append(Section("Alternatives", (_alternatives(problem, run),)))
    if first is not None:
        blocks += listed("What not to do", first.avoid)
        blocks += listed("How to confirm it", [first.confirm] if first.confirm else [])
    blocks += listed("What to ask next", problem.questions)
    if first is not None:
        pages = [(first.title, first.cause), *((sheet_title(sheet), sheet) for sheet in first.sheets)]
        blocks += listed(
            "Reference sheets", [(f"{title}: ", code(f"traindx explain {id}")) for title, id in pages]
        )
    facts = (Span(problem.severity, "badge", problem.severity),)
    title = Span(f"{name}{symptom_title(problem.symptom)}")
    return Section(title, tuple(blocks), f"card {problem.severity}", anchor, facts=facts)


def _symptom(problem: Problem, run: Run) -> Iterator[Block]:
    when = onset(problem, run)
    named = (strong(symptom_title(problem.symptom)), " (", code(problem.symptom), ")")
    yield Text((*named, f", {when}: " if when else ": ", problem.summary))
    if problem.also:
        yield Text(Span(f"Also seen: {', '.join(map(symptom_title, problem.also))}."))


def _cause(cause: Hypothesis, run: Run, *, open_cause: bool = False) -> Iterator[Block]:
    known = causes().get(cause.cause)
    items: list[Prose] = [f"Category: {known.category}"] if known is not None else []
    if open_cause:
        items.append(
            "The cause is open: no finding speaks for one of them. This one is only the most common."
        )
    items.append(("Specific issue: ", strong(cause.title), " (", code(cause.cause), ")"))
    items.append(f"Confidence: {percent(cause.confidence)}")
    if place_text(cause.place):
        items.append(("Location: ", *_where(cause.place)))
    yield Items(tuple(items))
    yield from _evidence(cause, run)


def _where(place: Place | None) -> tuple[str | Span, ...]:
    """`train.py:12`, layer `fc1`, as code."""
    if place is None:
        return ()
    line: tuple[str | Span, ...] = (code(line_of(place)),) if line_of(place) else ()
    layer: tuple[str | Span, ...] = ("layer ", code(layer_of(place))) if place.layer else ()
    return (*line, ", ", *layer) if line and layer else (*line, *layer)


def _evidence(cause: Hypothesis, run: Run) -> Iterator[Block]:
    items = (*cause.evidence, *cause.against)
    if not items:
        yield Labelled("evidence", "none of its own: only how common this cause is")
        return
    columns = (
        Column("bits", "right"),
        Column(run.axis, "right"),
        Column("finding", least=0),
        Column("what was measured", wrap=True),
    )
    yield Table(columns, tuple(_weighed(item, run) for item in items), "evidence", "evidence")


def _weighed(item: Evidence, run: Run) -> tuple[Prose, ...]:
    weight = Span(bits(item.bits) if item.bits else "", look="good" if item.bits > 0 else "alarm")
    step = "" if item.step is None else at_step(item.step, item.series, run)
    return weight, step, code(item.finding), item.text


def _fixes(cause: Hypothesis) -> Iterator[Block]:
    if cause.fixes:
        yield Items(tuple(fix.summary for fix in cause.fixes), numbered=True)
    for number, fix in enumerate(cause.fixes, 1):
        if fix.config and number == 1:
            settings = [(code(f"{key} = {value_text(value)}"), " ") for key, value in fix.config.items()]
            yield Labelled("settings", tuple(one for setting in settings for one in setting))
        if edit := patch_lines(fix.patch):
            yield Text(f"Number {number} as an edit:")
            yield Diff(tuple(edit))


def _alternatives(problem: Problem, run: Run) -> Shares:
    rows = [
        Share(
            other.confidence,
            (f"{other.title} (", code(other.cause), f") at {at}" if (at := place_text(other.place)) else ")"),
            (
                _strongest(other.evidence),
                _strongest(other.against),
                other.fixes[0].summary if other.fixes else "",
            ),
            tuple(_alternative(other, run)),
        )
        for other in problem.hypotheses[1:]
    ]
    rows.append(Share(problem.rest, "something traindx does not know", muted=True))
    return Shares(tuple(rows), "or", ("for", "against", "fix"))


def _alternative(other: Hypothesis, run: Run) -> Iterator[Block]:
    yield from _evidence(other, run)
    if other.fixes:
        yield Items(tuple(fix.summary for fix in other.fixes), "fix")
    if other.confirm:
        yield Labelled("confirm", other.confirm)
    if other.avoid:
        yield Items(other.avoid, "avoid")


def _strongest(items: Sequence[Evidence]) -> str:
    return f"{items[0].text} ({bits(items[0].bits)} bits)" if items else ""


def _inside(diagnosis: Diagnosis, charts: bool) -> Iterator[Section]:
    sentences = inside_sentences(diagnosis, everything=True)
    blocks: list[Block] = [Labelled(name, text) for name, text in sentences]
    if charts:
        for parts in inside_parts(case_of(diagnosis.run), _CHARTS_COLUMNS, _CHARTS_ROWS).values():
            blocks += [Chart(one.drawing, 0, one.title, one.text) for one in parts]
    if blocks:
        yield Section("Inside the training", tuple(blocks), "card")


def _coverage(diagnosis: Diagnosis) -> Iterator[Block]:
    coverage, blind = diagnosis.coverage, blind_spots(diagnosis.coverage)
    missing = not_checked(coverage, 0).partition(" because")[0]
    yield Text(
        f"{checks_run(coverage)}, {missing}. What was not checked says nothing about this run."
        if blind
        else f"{checks_run(coverage)}."
    )
    if blind:
        columns = (Column("not checked because they need", least=24, wrap=True), Column("checks", wrap=True))
        rows = tuple((need, Span(", ".join(checks))) for need, checks in blind)
        yield Table(columns, rows, look="coverage")
    for title, seen in (("Found something", True), ("Found nothing", False)):
        ran = [check.check for check in coverage if check.status == "ran" and check.seen is seen]
        if ran:
            yield Details(f"{title} ({len(ran):,})", (Text(", ".join(map(finding_title, ran))),))


def _log_notes(run: Run) -> Iterator[Prose]:
    """Events of the run and oddities of its log."""
    yield from (Span(_event(event, run)[:_NOTE_LONGEST]) for event in run.events[:_NOTES_SHOWN])
    yield from (Span(note.text[:_NOTE_LONGEST]) for note in run.notes[:_NOTES_SHOWN])
    left = max(len(run.events) - _NOTES_SHOWN, 0) + max(len(run.notes) - _NOTES_SHOWN, 0)
    if left:
        yield f"and {left:,} more"


def _event(event: Event, run: Run) -> str:
    at = "" if event.step is None else f"{run.axis} {short(event.step)}: "
    return f"{at}{event.kind.replace('_', ' ')}: {event.text}"
