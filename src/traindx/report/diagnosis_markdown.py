"""Diagnoses as Markdown: for an issue, a pull request, a lab book."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx import __version__
from traindx.core.nouns import Diagnosis, Evidence, Hypothesis, Place, Problem, Run
from traindx.core.units import readers
from traindx.knowledge.catalogue import causes
from traindx.report.inside_words import inside_sentences
from traindx.report.markdown_text import code, escaped, fenced, table
from traindx.report.place_words import layer_of, line_of, patch_lines, placed_text
from traindx.report.text import count, short
from traindx.report.titles import sheet_title, symptom_title
from traindx.report.triage import grade
from traindx.report.wording import (
    at_step,
    bits,
    blind_spots,
    further_signs,
    looks,
    minor,
    onset,
    percent,
    sentence,
    shown_problems,
    tally,
    verdict_sentences,
    verdict_word,
    worst_first,
)


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """One run as a page; several as a table, worst first, with a section each."""
    if len(diagnoses) == 1:
        lines = [f"# Diagnosis of {code(diagnoses[0].run.name)}", "", *_run(diagnoses[0], 2)]
    else:
        ordered = worst_first(diagnoses)
        lines = [f"# Diagnosis of {count(len(ordered), 'run')}", "", escaped(tally(ordered)), ""]
        lines += [*_triage(ordered), ""]
        for diagnosis in ordered:
            lines += [f"## {code(diagnosis.run.name)}", "", *_run(diagnosis, 3)]
    return "\n".join([*lines, f"Written by traindx {__version__}."]) + "\n"


def _triage(diagnoses: Sequence[Diagnosis]) -> list[str]:
    rows = []
    for diagnosis in diagnoses:
        first = next(iter(diagnosis.problems), None)
        cause = first.hypotheses[0] if first and first.hypotheses else None
        rows.append(
            [
                grade(diagnosis),
                code(diagnosis.run.name),
                escaped(symptom_title(first.symptom)) if first else "",
                escaped(cause.title) if cause else "",
                escaped(percent(cause.confidence)) if cause else "",
                escaped(onset(first, diagnosis.run)) if first else "",
                f"{diagnosis.run.points:,}",
            ]
        )
    head = ["verdict", "run", "symptom", "most likely", "confidence", "onset", "points"]
    return table(head, rows, right=(4, 6))


def _run(diagnosis: Diagnosis, level: int) -> Iterator[str]:
    first, *others = verdict_sentences(diagnosis)
    yield f"**{verdict_word(diagnosis)}**: {escaped(first)}."
    for text in others:
        yield f"Also: {escaped(text)}."
    yield ""
    yield from table(["", ""], _facts(diagnosis))
    yield ""
    if diagnosis.reasons and diagnosis.verdict != "problem":
        title = "Why it can be believed" if diagnosis.verdict == "healthy" else "What to log"
        yield from _section(title, level, [f"- {escaped(reason)}" for reason in diagnosis.reasons])
    problems = shown_problems(diagnosis)
    for number, problem in enumerate(problems, 1):
        which = f"Problem {number}" if len(problems) > 1 else "Problem"
        title = f"{which}: {escaped(symptom_title(problem.symptom))} ({problem.severity})"
        yield from _section(title, level, [])
        yield from _problem(problem, diagnosis.run, level + 1)
    yield from _section("Other things noticed", level, list(_noticed(diagnosis)), only_if_any=True)
    inside = [
        f"- {name.capitalize()}: {escaped(text)}"
        for name, text in inside_sentences(diagnosis, everything=True)
    ]
    yield from _section("Inside", level, inside, only_if_any=True)
    yield from _section("Coverage", level, list(_coverage(diagnosis)))


def _section(title: str, level: int, lines: Sequence[str], *, only_if_any: bool = False) -> Iterator[str]:
    if only_if_any and not lines:
        return
    yield f"{'#' * level} {title}"
    yield ""
    if lines:
        yield from lines
        yield ""


def _facts(diagnosis: Diagnosis) -> list[list[str]]:
    run = diagnosis.run
    titles = {unit.id: unit.title for unit in readers()}
    formats = " + ".join(escaped(titles.get(part, part)) for part in run.formats)
    size = f"{count(len(run.series), 'series', 'series')}, {count(run.points, 'point')}"
    if run.last_step is not None:
        size += f", last {run.axis} {short(run.last_step)}"
    return [
        ["read from", code(run.path)],
        ["format", formats],
        ["length", size],
        ["evidence", escaped(", ".join(diagnosis.evidence))],
    ]


def _problem(problem: Problem, run: Run, level: int) -> Iterator[str]:
    first = next(iter(problem.hypotheses), None)
    yield from _section("Primary symptom", level, list(_symptom(problem, run)))
    findings = [f"- {escaped(placed_text(finding))}" for finding in problem.findings]
    yield from _section("Findings", level, findings, only_if_any=True)
    if first is None:
        yield from _section("Root cause", level, ["No known cause fits."])
    else:
        yield from _cause(first, run, level)
    others = list(_alternatives(problem))
    yield from _section("Alternatives", level, others, only_if_any=True)
    if first is not None:
        avoid = [f"- {escaped(text)}" for text in first.avoid]
        yield from _section("What not to do", level, avoid, only_if_any=True)
        confirm = [escaped(first.confirm)] if first.confirm else []
        yield from _section("How to confirm it", level, confirm, only_if_any=True)
    asked = [f"- {escaped(question)}" for question in problem.questions]
    yield from _section("What to ask next", level, asked, only_if_any=True)
    if first is not None:
        pages = [f"- {escaped(first.title)}: {code('traindx explain ' + first.cause)}"]
        pages += [f"- {escaped(sheet_title(s))}: {code('traindx explain ' + s)}" for s in first.sheets]
        yield from _section("Reference sheets", level, pages)


def _symptom(problem: Problem, run: Run) -> Iterator[str]:
    when = onset(problem, run)
    named = f"**{escaped(symptom_title(problem.symptom))}** ({code(problem.symptom)})"
    yield f"{named}{', ' + when if when else ''}: {escaped(problem.summary)}"
    if problem.also:
        yield ""
        yield "Also seen: " + ", ".join(escaped(symptom_title(symptom)) for symptom in problem.also) + "."


def _cause(first: Hypothesis, run: Run, level: int) -> Iterator[str]:
    known = causes().get(first.cause)
    lines = [f"- Category: {escaped(known.category)}"] if known is not None else []
    lines += [
        f"- Specific issue: **{escaped(first.title)}** ({code(first.cause)})",
        f"- Confidence: {escaped(percent(first.confidence))}",
    ]
    if where := _where(first.place):
        lines.append(f"- Location: {where}")
    if first.evidence or first.against:
        lines += ["- Evidence (bits speak for the cause, negative ones against it):", ""]
        lines += _evidence((*first.evidence, *first.against), run)
    yield from _section("Root cause", level, lines)
    fixes = [f"{number}. {escaped(fix.summary)}" for number, fix in enumerate(first.fixes, 1)]
    settings = [
        f"{key} = {short(value) if isinstance(value, float) else value}"
        for fix in first.fixes[:1]
        for key, value in fix.config.items()
    ]
    if settings:
        fixes += ["", "The first one as settings: " + ", ".join(map(code, settings))]
    for number, fix in enumerate(first.fixes, 1):
        if edit := patch_lines(fix.patch):
            fixes += ["", f"Number {number} as an edit:", "", *fenced(edit, "diff")]
    yield from _section("Recommended fix", level, fixes, only_if_any=True)


def _where(place: Place | None) -> str:
    """`train.py:12`, layer `fc1`, as code."""
    if place is None:
        return ""
    told = [code(line_of(place))] if line_of(place) else []
    told += [f"layer {code(layer_of(place))}"] if place.layer else []
    return ", ".join(told)


def _evidence(items: Sequence[Evidence], run: Run) -> list[str]:
    rows = [
        [
            bits(item.bits) if item.bits else "",
            "" if item.step is None else escaped(at_step(item.step, item.series, run)),
            code(item.finding),
            escaped(item.text),
        ]
        for item in items
    ]
    return table(["bits", run.axis, "finding", "what was measured"], rows, right=(0, 1))


def _alternatives(problem: Problem) -> Iterator[str]:
    others = problem.hypotheses[1:]
    if not others:
        return
    rows = [
        [
            f"{escaped(other.title)} ({code(other.cause)})" + _at(other.place),
            escaped(percent(other.confidence)),
            _strongest(other.evidence),
            _strongest(other.against),
            escaped(other.fixes[0].summary) if other.fixes else "",
        ]
        for other in others
    ]
    rows.append(["something traindx does not know", escaped(percent(problem.rest)), "", "", ""])
    yield from table(["cause", "confidence", "for", "against", "fix"], rows, right=(1,))


def _at(place: Place | None) -> str:
    where = _where(place)
    return f" at {where}" if where else ""


def _strongest(items: Sequence[Evidence]) -> str:
    return f"{escaped(items[0].text)} ({bits(items[0].bits)} bits)" if items else ""


def _noticed(diagnosis: Diagnosis) -> Iterator[str]:
    for problem in minor(diagnosis):
        yield f"- {escaped(sentence(problem, diagnosis.run))}. {escaped(problem.summary)}"
    yield from (f"- {escaped(placed_text(sign))}" for sign in further_signs(diagnosis))


def _coverage(diagnosis: Diagnosis) -> Iterator[str]:
    blind = blind_spots(diagnosis.coverage)
    missing = sum(len(checks) for _, checks in blind)
    yield f"{looks(diagnosis.coverage)}" + (f"; {missing:,} could not:" if missing else ".")
    if blind:
        yield ""
        rows = [[escaped(need), ", ".join(map(code, checks))] for need, checks in blind]
        yield from table(["what they need", "checks that could not look"], rows)
