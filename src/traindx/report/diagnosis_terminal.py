"""A diagnosis as lines of text for a terminal or a pipe: the verdict first, then why, then what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.core.nouns import Diagnosis, Problem, Run
from traindx.core.units import readers
from traindx.report.diagnosis_causes import differential
from traindx.report.diagnosis_curves import draw, main_curves, steps_of, telling
from traindx.report.inside_words import inside_sentences
from traindx.report.labelled import INDENT, bullets, cut, labelled, wrap
from traindx.report.layout import Screen, cells
from traindx.report.place_words import placed_text
from traindx.report.text import count, short
from traindx.report.titles import symptom_title
from traindx.report.wording import (
    beginning,
    blind_spots,
    further_signs,
    looks,
    minor,
    onset,
    sentence,
    shown_problems,
    verdict_sentences,
    verdict_word,
)

_SIGNS_SHOWN = 4
_NEEDS_SHOWN = 3
_VERDICT_STYLES = {"problem": "alarm", "healthy": "good"}
SEVERITY_STYLES = {"critical": "alarm", "high": "red", "medium": "yellow", "low": "dim"}


def render_diagnosis(diagnosis: Diagnosis, *, everything: bool, screen: Screen) -> Iterator[str]:
    """One run: at most three causes per problem, the first in full, unless everything is asked for."""
    run = diagnosis.run
    yield from _verdict(diagnosis, screen)
    yield from _heading(run, screen)
    problems = shown_problems(diagnosis)
    for number, problem in enumerate(problems, 1):
        yield ""
        yield from _problem(problem, number if len(problems) > 1 else None, run, everything, screen)
    if not problems:
        yield ""
        yield from draw(main_curves(run), (), run, screen)
    if not problems and diagnosis.reasons:
        yield ""
        yield from bullets("why" if diagnosis.verdict == "healthy" else "to do", diagnosis.reasons, screen)
    yield ""
    if problems:
        yield _rule("Besides", screen)
        yield ""
    yield from _noticed(diagnosis, everything, screen)
    for name, text in inside_sentences(diagnosis, everything=everything):
        yield from labelled(name, text, screen)
    yield from _coverage(diagnosis, everything, screen)


def _verdict(diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    style = _VERDICT_STYLES.get(diagnosis.verdict, "warning")
    word = f"{verdict_word(diagnosis):<{INDENT}}"
    for number, text in enumerate(verdict_sentences(diagnosis)):
        for line in wrap(text, screen.width - INDENT, screen):
            yield screen.paint(word, style) + screen.paint(line, "bold" if number == 0 else "")
            word = " " * INDENT


def _heading(run: Run, screen: Screen) -> Iterator[str]:
    titles = {unit.id: unit.title for unit in readers()}
    formats = " + ".join(titles.get(part, part) for part in run.formats)
    facts = [formats, count(len(run.series), "series", "series"), count(run.points, "point")]
    if run.last_step is not None:
        facts.append(f"last {run.axis} {short(run.last_step)}")
    room = screen.width - INDENT
    yield " " * INDENT + screen.paint(cut(run.name[-2000:], room, screen, "end"), "title")
    yield " " * INDENT + screen.paint(cut(" · ".join(facts), room, screen), "dim")


def _problem(
    problem: Problem, number: int | None, run: Run, everything: bool, screen: Screen
) -> Iterator[str]:
    yield _title(problem, number, run, screen)
    yield ""
    yield from labelled("seen", problem.summary, screen)
    if everything:
        for finding in problem.findings:
            if finding.text != problem.summary:
                yield from labelled("", placed_text(finding), screen)
    if problem.also:
        yield from labelled("also", ", ".join(beginning(symptom_title(s)) for s in problem.also), screen)
    curves = list(draw(telling(problem, run), steps_of(problem, run), run, screen))
    if curves:
        yield ""
        yield from curves
    yield ""
    yield from differential(problem, run, everything, screen)
    yield ""
    yield from bullets("to ask", problem.questions, screen)
    if problem.hypotheses:
        first = problem.hypotheses[0]
        more = f" (and: {', '.join(first.sheets)})" if first.sheets else ""
        yield from labelled("to read", f"traindx explain {first.cause}{more}", screen, "dim")


def _title(problem: Problem, number: int | None, run: Run, screen: Screen) -> str:
    name = symptom_title(problem.symptom)
    when = onset(problem, run)
    if when and when.endswith(short(problem.onset_step)) and run.last_step is not None:
        when += f" of {short(run.last_step)}"
    style = SEVERITY_STYLES.get(problem.severity, "")
    parts = [(problem.severity, style), (when, "")] if when else [(problem.severity, style)]
    return _rule(f"{number}  {name}" if number else name, screen, parts)


def _rule(title: str, screen: Screen, parts: Sequence[tuple[str, str]] = ()) -> str:
    """A title, what belongs to it, and a thin line to the edge."""
    beside = sum(len(text) + 3 for text, _ in parts)
    title = cut(title, screen.width - beside - 4, screen)
    dot, line = screen.plain(" · "), screen.plain("─")
    taken = cells(title) + beside
    painted = [screen.paint(title, "bold"), *(screen.paint(text, style) for text, style in parts)]
    return dot.join(painted) + " " + screen.paint(line * (screen.width - taken - 1), "dim")


def _noticed(diagnosis: Diagnosis, everything: bool, screen: Screen) -> Iterator[str]:
    """Small problems in a sentence or two, then signs that point to no problem."""
    texts = []
    for problem in minor(diagnosis):
        fix = problem.hypotheses[0].fixes[:1] if problem.hypotheses else ()
        told = [sentence(problem, diagnosis.run), problem.summary, *(one.summary for one in fix)]
        texts.append(". ".join(part.strip().rstrip(".") for part in told) + ".")
    signs = [placed_text(sign) for sign in further_signs(diagnosis)]
    shown = signs if everything else signs[:_SIGNS_SHOWN]
    texts += shown
    if len(shown) < len(signs):
        texts.append(f"{len(signs) - len(shown):,} more; --all shows them.")
    yield from bullets("noticed", texts, screen)


def _coverage(diagnosis: Diagnosis, everything: bool, screen: Screen) -> Iterator[str]:
    """How many checks looked; what the others would need, the need of most checks first."""
    looked = looks(diagnosis.coverage)
    blind = blind_spots(diagnosis.coverage)
    if not blind:
        yield from labelled("coverage", f"{looked}.", screen)
        return
    missing = sum(len(checks) for _, checks in blind)
    if everything:
        yield from labelled("coverage", f"{looked}; {missing:,} could not, for they need", screen)
        yield from bullets("", [f"{need}: {', '.join(checks)}" for need, checks in blind], screen)
        return
    told = [
        f"{len(checks):,} {'needs' if len(checks) == 1 else 'need'} {need}"
        for need, checks in blind[:_NEEDS_SHOWN]
    ]
    rest = sum(len(checks) for _, checks in blind[_NEEDS_SHOWN:])
    if rest:
        told.append(f"{rest:,} {'needs' if rest == 1 else 'need'} other things (--all)")
    yield from labelled("coverage", f"{looked}, {missing:,} could not: {'; '.join(told)}.", screen)
