"""The answer on one screen: verdict, cause, evidence, what to do, what not to do, the next command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from traindx.core.facts import word
from traindx.core.nouns import Diagnosis, Evidence, Finding, Hypothesis, Problem, Run
from traindx.core.pool import pool_of
from traindx.report.checked import checked_facts
from traindx.report.coverage_words import not_checked
from traindx.report.document import Block, Chart, Diff, Items, Labelled, Prose, Span, Text, Verdict
from traindx.report.inside_words import inside_sentences
from traindx.report.layout import Screen
from traindx.report.measured import case_of
from traindx.report.panels import curves_of
from traindx.report.places import from_here, patch_lines, place_text, places_text, program_words
from traindx.report.text import count, percent, short, value_text
from traindx.report.to_terminal import lines
from traindx.report.wording import (
    decides,
    evidence_for,
    further_signs,
    leading,
    look,
    minor,
    sentence,
    shown_problems,
    verdict_sentences,
    verdict_word,
)

_EVIDENCE_SHOWN = 3
_REASONS_SHOWN = 3
_SURE = 0.5
_PATCH_SHOWN = 8
# What takes short runs of its own, which a recording cannot answer.
_ONLY_PREFLIGHT = "whether one batch can be learned, and inputs and labels matter"


def answer_lines(diagnosis: Diagnosis, screen: Screen) -> list[str]:
    return lines(answer(diagnosis), screen)


def answer_text(diagnosis: Diagnosis) -> str:
    """What a notebook's front end without HTML shows."""
    return "\n".join(answer_lines(diagnosis, Screen()))


def answer(diagnosis: Diagnosis) -> Iterator[Block]:
    """One run in about twenty lines."""
    yield Verdict(
        verdict_word(diagnosis),
        tuple(map(Span, verdict_sentences(diagnosis))),
        look(diagnosis),
        (Text(Span(" · ".join(_facts(diagnosis.run))), "name"),),
    )
    problems = shown_problems(diagnosis)
    chart = curves_of(case_of(diagnosis.run), problems[0] if problems else None, most=2)
    if chart is not None:
        yield Chart(chart, 2)
    if chosen := word(checked_facts(diagnosis.run), "chosen"):
        yield Labelled("data", chosen)
    yield from _problem(problems[0], diagnosis) if problems else _no_problem(diagnosis)


def _facts(run: Run) -> list[str]:
    if summary := word(checked_facts(run), "summary"):
        return [run.name[-2000:], summary]
    facts = [f"{count(len(run.series), 'series', 'series')}, {count(run.points, 'point')}"]
    facts += [f"last {run.axis} {short(run.last_step)}"] if run.last_step is not None else []
    return [run.name[-2000:], *facts]


def _problem(problem: Problem, diagnosis: Diagnosis) -> Iterator[Block]:
    first = leading(problem)
    evidence = strongest(first, problem) if first is not None else ()
    if all(item.text != problem.summary for item in evidence):
        yield Labelled("seen", problem.summary)
    if first is not None:
        where = place_text(first.place)
        yield Labelled(
            "cause",
            f"{first.title} ({percent(first.confidence)})" + (f" at {where}" if where else ""),
            "bold",
        )
        yield Items(tuple(item.text for item in evidence), "evidence")
        yield from _what_to_do(first)
    elif problem.hypotheses:
        causes = ", ".join(
            f"{hypothesis.title} ({percent(hypothesis.confidence)})" for hypothesis in problem.hypotheses[:3]
        )
        text = f"open: no finding speaks for one of its causes. By how common they are: {causes}."
        yield Labelled("cause", Span(text))
    if first is None and decides(problem):
        yield Labelled("decide", decides(problem), "bold")
    confirmed = dict(inside_sentences(diagnosis, everything=False)).get("confirmed")
    if confirmed:
        yield Labelled("confirmed", confirmed)
    command = next_command(diagnosis, problem)
    if command:
        yield Labelled("next", command, "bold")


def strongest(first: Hypothesis, problem: Problem) -> Sequence[Evidence]:
    """What speaks most for a cause beyond the sentence above it."""
    weighty = [item for item in evidence_for(first, problem) if item.bits > 0]
    fresh = [item for item in weighty if item.text != problem.summary]
    return (fresh or weighty)[:_EVIDENCE_SHOWN]


def _what_to_do(first: Hypothesis) -> Iterator[Block]:
    for fix in first.fixes[:1]:
        yield Labelled("first", fix.summary, "bold")
        patch = patch_lines(fix.patch)
        changed = [
            line for line in patch if line.startswith(("+", "-")) and not line.startswith(("+++", "---"))
        ]
        if changed and len(changed) <= _PATCH_SHOWN:
            yield Diff(tuple(changed), "edit")
        elif fix.config and not patch:
            changes = ", ".join(f"{key} = {value_text(value)}" for key, value in fix.config.items())
            yield Labelled("set", Span(changes), "green")
    if first.avoid:
        yield Labelled("avoid", first.avoid[0])


def seen_at(finding: Finding) -> Prose:
    """The text of a finding, with its places in brackets."""
    where = places_text(finding)
    return (finding.text, " (", Span(where, "code"), ")") if where else finding.text


def _no_problem(diagnosis: Diagnosis) -> Iterator[Block]:
    label = "why" if diagnosis.verdict == "healthy" else "to do"
    if diagnosis.reasons:
        yield Items(diagnosis.reasons[:_REASONS_SHOWN], label)
    well = diagnosis.verdict == "healthy"  # then what was measured is shown, and no cause of an illness
    noticed: list[Prose] = [
        problem.summary if well else (Span(sentence(problem, diagnosis.run)), ". ", problem.summary)
        for problem in minor(diagnosis)
    ]
    noticed += [seen_at(sign) for sign in further_signs(diagnosis)]
    if noticed:
        yield Items(tuple(noticed[:2]), "noticed")
    missing = not_checked(diagnosis.coverage)
    if missing and not checked_facts(diagnosis.run):
        yield Labelled("coverage", f"{missing}.")
    if command := _preflight(diagnosis.run):
        yield Labelled("next", f"{command} ({_ONLY_PREFLIGHT})", "bold")


def _preflight(run: Run) -> str:
    """The next command for a run without a problem, unless a measurement shows that it learned."""
    level, program = case_of(run).level, _program(run)
    comparison = level.against_simple
    if (
        not program
        or (comparison is not None and comparison.as_good)
        or level.good
        or level.answers_right
        or any(entry.command == "preflight" for entry in pool_of(run))
    ):
        return ""
    return f"traindx preflight {program}"


def next_command(diagnosis: Diagnosis, problem: Problem) -> str:
    """What to run next: an experiment where the script is known, else a page or questions."""
    run, first = diagnosis.run, leading(problem)
    program = _program(run)
    if program and first is not None and first.confidence >= _SURE and any(fix.trials for fix in first.fixes):
        return f"traindx treat {program}"
    if program and problem.hypotheses:
        return f"traindx confirm {shlex.quote(from_here(run.path))}"
    if first is not None:
        return f"traindx explain {first.cause}"
    return f"traindx ask {shlex.quote(from_here(run.path))}" if run.path not in ("", "-") else ""


def _program(run: Run) -> str:
    """The command line behind `python`, where experiments can run it: in a single process."""
    return shlex.join(program_words(run)) if run.facts.get("world_size") in (None, 1) else ""
