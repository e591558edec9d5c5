"""Experiments while they run: why each was chosen, what it changed, its result, and the new ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.report.diagnosis import render_diagnosis
from traindx.report.document import Block, Labelled, Verdict
from traindx.report.layout import Screen
from traindx.report.suspicions import suspicion_blocks
from traindx.report.text import count, lasting, percent
from traindx.report.titles import cause_title
from traindx.report.to_terminal import lines
from traindx.report.wording import look, verdict_word

if TYPE_CHECKING:
    from traindx.core.nouns import Problem
    from traindx.experiment.arms import Outcome
    from traindx.experiment.confirm.belief import Belief
    from traindx.experiment.confirm.confirm import Confirmed, Tried
    from traindx.experiment.confirm.next_experiment import ExperimentChoice

_SHOWN = 3
_PLANNED = 6
_STYLES = {"cured": "good", "helped": "green", "hurt": "red", "inert": "dim", "same": "dim"}


def standing(belief: Belief, most: int = _SHOWN) -> str:
    """`Learning rate too high 62 %, Gradients not clipped 20 %`."""
    ranked = sorted(belief.shares, key=lambda cause: -belief.shares[cause])[:most]
    return ", ".join(f"{cause_title(cause)} {percent(belief.shares[cause])}" for cause in ranked)


def reason(choice: ExperimentChoice, belief: Belief) -> str:
    """Which causes an experiment separates."""
    if len(choice.plans) > 1:
        return "each of them changes nothing where there is nothing to fix: one run rules causes out"
    up, down = belief.separated(choice.plans[0].experiment)
    names = " or ".join(cause_title(cause) for cause in up[:2])
    if not down:
        return f"it separates {names} from all other causes"
    return f"it separates {names} from {' and '.join(cause_title(cause) for cause in down[:2])}"


def named(choice: ExperimentChoice) -> str:
    if len(choice.plans) > 1:
        return f"a check-up ({', '.join(plan.change.id for plan in choice.plans)})"
    plan = choice.plans[0]
    return f"{plan.experiment.title} ({plan.change})"


def head(problem: Problem, belief: Belief) -> Iterator[Block]:
    """The problem to confirm and its causes."""
    yield Labelled("problem", problem.summary, "bold")
    yield Labelled("causes", standing(belief))


def plan_blocks(menu: Sequence[ExperimentChoice], belief: Belief) -> Iterator[Block]:
    """The experiments there are, those that decide most a second first."""
    if not menu:
        yield Labelled("plan", "there is no experiment for these causes")
    for number, choice in enumerate(menu[:_PLANNED]):
        steps, seconds = count(choice.steps, "step"), lasting(choice.seconds)
        cost = f"{choice.bits:.2f} bits expected, {steps}, about {seconds}"
        yield Labelled("plan" if number == 0 else "", f"{named(choice)}: {reason(choice, belief)}; {cost}")
    if len(menu) > _PLANNED:
        yield Labelled("", count(len(menu) - _PLANNED, "further experiment"), "dim")


def observed(problem: Problem, belief: Belief, outcome: Outcome) -> Iterator[Block]:
    took = f"{count(outcome.steps, 'step')}, {lasting(outcome.seconds)}"
    yield Labelled("observed", f"the script as it is, recorded in full ({took}): {problem.summary}")
    yield Labelled("now", standing(belief))


def chosen(number: int, choice: ExperimentChoice, belief: Belief) -> Iterator[Block]:
    yield Labelled(f"try {number}", named(choice), "bold")
    yield Labelled("why", f"{reason(choice, belief)} ({choice.bits:.2f} bits expected)")


def showed(trial: Tried) -> Iterator[Block]:
    reading = trial.reading
    if reading.did:
        yield Labelled("did", "; ".join(reading.did[:2]))
    style = _STYLES.get(reading.shown[0].outcome, "") if len(reading.shown) == 1 else ""
    took = f" ({count(reading.steps, 'step')}, {lasting(reading.seconds)})" if reading.steps else ""
    yield Labelled("showed", reading.text.rstrip(".") + took, style if reading.shown else "yellow")
    if reading.shown:
        yield Labelled("now", _moved(trial))


def _moved(trial: Tried) -> str:
    """The first causes of before and after with both shares."""
    before, after = trial.before.shares, trial.after.shares
    ranked = dict.fromkeys(sorted(after, key=lambda cause: -after[cause])[:_SHOWN])
    ranked.update(dict.fromkeys(sorted(before, key=lambda cause: -before[cause])[:1]))
    return ", ".join(f"{cause_title(c)} {percent(before[c])} -> {percent(after[c])}" for c in ranked)


def ending(confirmed: Confirmed, everything: bool, screen: Screen) -> list[str]:
    """The diagnosis after all experiments, and why they stopped."""
    cost = f"{count(len(confirmed.tried), 'experiment')}, {lasting(confirmed.seconds)} of running"
    stopped = Labelled("stopped", f"{confirmed.stopped} ({cost})")
    suspicions = lines(suspicion_blocks(confirmed.suspicions), screen)
    if confirmed.problem is None:
        word, why = verdict_word(confirmed.after), confirmed.stopped
        if any(answer.answer == "confirmed" for answer in confirmed.suspicions):
            word, why = "CONFIRMED", "what was suspected; nothing else is wrong that could be confirmed"
        verdict = Verdict(word, (f"{why}.",), look(confirmed.after))
        return [*suspicions, *([""] if suspicions else []), *lines([verdict], screen)]
    after = replace(confirmed.after, problems=(confirmed.problem,))
    return [
        "",
        *suspicions,
        *lines([stopped], screen),
        "",
        *render_diagnosis(after, everything=everything, screen=screen),
    ]
