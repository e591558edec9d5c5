"""One problem: what was seen, the causes that may be behind it, what to do and what not to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.core.nouns import Diagnosis, Evidence, Hypothesis, Place, Problem, Run
from traindx.knowledge.catalogue import causes
from traindx.report import document as doc
from traindx.report.answer import seen_at, strongest
from traindx.report.document import code, listed, strong
from traindx.report.measured import case_of
from traindx.report.panels import curves_of
from traindx.report.places import layer_of, line_of, patch_lines, place_text
from traindx.report.text import percent, value_text
from traindx.report.titles import sheet_title, symptom_title
from traindx.report.wording import at_step, bits, category, decides, evidence_for, leading, onset

_NO_EVIDENCE = "none of its own: only how common this cause is"


def problem_section(
    problem: Problem, diagnosis: Diagnosis, number: int, anchor: str, charts: bool
) -> doc.Section:
    name = f"Problem {number}: " if number else "Problem: "
    run, first = diagnosis.run, next(iter(problem.hypotheses), None)
    blocks: list[doc.Block] = [doc.Section("Primary symptom", tuple(_symptom(problem, run)))]
    chart = curves_of(case_of(run), problem) if charts else None
    if chart is not None:
        blocks.append(doc.Chart(chart, 4))
    blocks += listed("Diagnostic findings", [seen_at(finding) for finding in problem.findings])
    if first is None:
        blocks.append(doc.Section("Root cause", (doc.Text("No known cause fits."),)))
    else:
        open_cause = leading(problem) is None
        blocks.append(doc.Section("Root cause", tuple(_cause(first, problem, run, open_cause))))
        blocks += [doc.Section("Recommended fix", fixes)] if (fixes := tuple(_fixes(first))) else []
    blocks.append(doc.Section("Alternatives", (_alternatives(problem, run),)))
    if first is not None:
        blocks += listed("What not to do", first.avoid)
        blocks += listed("How to confirm it", [first.confirm] if first.confirm else [])
    blocks += listed("What to ask next", problem.questions)
    if first is not None:
        pages = [(first.title, first.cause), *((sheet_title(sheet), sheet) for sheet in first.sheets)]
        blocks += listed(
            "Reference sheets", [(f"{title}: ", code(f"traindx explain {id}")) for title, id in pages]
        )
    facts = (doc.Span(problem.severity, "badge", problem.severity),)
    title = doc.Span(f"{name}{symptom_title(problem.symptom)}")
    return doc.Section(title, tuple(blocks), f"card {problem.severity}", anchor, facts=facts)


def ranked_causes(problem: Problem, several: bool) -> Iterator[doc.Block]:
    """The likely causes with their evidence and fix, in a few lines: the first, the second, the others."""
    first, *others = problem.hypotheses or (None,)
    if first is None or leading(problem) is None:
        return
    name = f"{symptom_title(problem.symptom)}: " if several else ""
    at = f" at {place_text(first.place)}" if place_text(first.place) else ""
    yield doc.Labelled(
        f"most likely cause ({percent(first.confidence)} confidence)",
        doc.Span(f"{name}{first.title}{at}"),
        "bold",
    )
    yield from _reasons(first, problem)
    for alternative in others[:1]:
        label = f"alternative hypothesis ({percent(alternative.confidence)} confidence)"
        yield doc.Labelled(label, doc.Span(alternative.title))
        yield from _reasons(alternative, problem)
    if others[1:]:
        names = ", ".join(
            f"{alternative.title} ({percent(alternative.confidence)})" for alternative in others[1:]
        )
        yield doc.Labelled("also consider", doc.Span(names))


def _reasons(cause: Hypothesis, problem: Problem) -> Iterator[doc.Block]:
    texts = [item.text for item in strongest(cause, problem)] or [_NO_EVIDENCE]
    yield doc.Labelled("evidence", texts[0])
    for fix in cause.fixes[:1]:
        yield doc.Labelled("fix", fix.summary)


def issue_table(problems: Sequence[Problem]) -> doc.DocumentTable:
    """Every problem with its severity, likely cause and fix."""
    columns = (
        doc.TableColumn("issue", least=6, wrap=True),
        doc.TableColumn("severity"),
        doc.TableColumn("likely cause", least=6, wrap=True),
        doc.TableColumn("recommended fix", least=6, wrap=True),
    )
    return doc.DocumentTable(columns, tuple(map(_issue, problems)), look="issues")


def _issue(problem: Problem) -> tuple[doc.Prose, ...]:
    first = leading(problem)
    badge = doc.Span(problem.severity, "badge", problem.severity)
    if first is None:
        return symptom_title(problem.symptom), badge, "open", decides(problem)
    fix = first.fixes[0].summary if first.fixes else ""
    return symptom_title(problem.symptom), badge, f"{first.title} ({percent(first.confidence)})", fix


def _symptom(problem: Problem, run: Run) -> Iterator[doc.Block]:
    when = onset(problem, run)
    heading = (strong(symptom_title(problem.symptom)), " (", code(problem.symptom), ")")
    yield doc.Text((*heading, f", {when}: " if when else ": ", problem.summary))
    if problem.also:
        yield doc.Text(doc.Span(f"Also seen: {', '.join(map(symptom_title, problem.also))}."))


def _cause(cause: Hypothesis, problem: Problem, run: Run, open_cause: bool) -> Iterator[doc.Block]:
    page = causes().get(cause.cause)
    items: list[doc.Prose] = [f"Category: {category(problem.symptom)}"]
    items += [f"Kind of cause: {page.category}"] if page is not None else []
    if open_cause:
        items.append(
            "The cause is open: no finding speaks for one of them. This one is only the most common."
        )
    items.append(("Specific issue: ", strong(cause.title), " (", code(cause.cause), ")"))
    items.append(f"Confidence: {percent(cause.confidence)}")
    if place_text(cause.place):
        items.append(("Location: ", *_where(cause.place)))
    yield doc.Items(tuple(items))
    yield from _evidence(cause, problem, run)


def _where(place: Place | None) -> tuple[str | doc.Span, ...]:
    """`train.py:12`, layer `fc1`, as code."""
    if place is None:
        return ()
    line: tuple[str | doc.Span, ...] = (code(line_of(place)),) if line_of(place) else ()
    layer: tuple[str | doc.Span, ...] = ("layer ", code(layer_of(place))) if place.layer else ()
    return (*line, ", ", *layer) if line and layer else (*line, *layer)


def _evidence(cause: Hypothesis, problem: Problem, run: Run) -> Iterator[doc.Block]:
    items = (*evidence_for(cause, problem), *cause.against)
    if not items:
        yield doc.Labelled("evidence", _NO_EVIDENCE)
        return
    columns = (
        doc.TableColumn("bits", "right"),
        doc.TableColumn(run.axis, "right"),
        doc.TableColumn("finding", least=0),
        doc.TableColumn("what was measured", wrap=True),
    )
    yield doc.DocumentTable(columns, tuple(_weighed(item, run) for item in items), "evidence", "evidence")


def _weighed(item: Evidence, run: Run) -> tuple[doc.Prose, ...]:
    weight = doc.Span(bits(item.bits) if item.bits else "", look="good" if item.bits > 0 else "alarm")
    step = "" if item.step is None else at_step(item.step, item.series, run)
    return weight, step, code(item.finding), item.text


def _fixes(cause: Hypothesis) -> Iterator[doc.Block]:
    if cause.fixes:
        yield doc.Items(tuple(fix.summary for fix in cause.fixes), numbered=True)
    for number, fix in enumerate(cause.fixes, 1):
        if fix.config and number == 1:
            settings = [(code(f"{key} = {value_text(value)}"), " ") for key, value in fix.config.items()]
            yield doc.Labelled("settings", tuple(part for setting in settings for part in setting))
        if edit := patch_lines(fix.patch):
            yield doc.Text(f"Number {number} as an edit:")
            yield doc.Diff(tuple(edit))


def _alternatives(problem: Problem, run: Run) -> doc.Shares:
    rows = [
        doc.Share(
            alternative.confidence,
            (
                f"{alternative.title} (",
                code(alternative.cause),
                f") at {at}" if (at := place_text(alternative.place)) else ")",
            ),
            (
                _strongest(evidence_for(alternative, problem)),
                _strongest(alternative.against),
                alternative.fixes[0].summary if alternative.fixes else "",
            ),
            tuple(_alternative(alternative, problem, run)),
        )
        for alternative in problem.hypotheses[1:]
    ]
    rows.append(doc.Share(problem.rest, "something traindx does not know", muted=True))
    return doc.Shares(tuple(rows), "or", ("for", "against", "fix"))


def _alternative(alternative: Hypothesis, problem: Problem, run: Run) -> Iterator[doc.Block]:
    yield from _evidence(alternative, problem, run)
    if alternative.fixes:
        yield doc.Items(tuple(fix.summary for fix in alternative.fixes), "fix")
    if alternative.confirm:
        yield doc.Labelled("confirm", alternative.confirm)
    if alternative.avoid:
        yield doc.Items(alternative.avoid, "avoid")


def _strongest(items: Sequence[Evidence]) -> str:
    return f"{items[0].text} ({bits(items[0].bits)} bits)" if items else ""
