"""Experiments on a terminal: why each was chosen, what was done, what it showed, how the ranking moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from traindx.knowledge.catalogue import causes
from traindx.report.diagnosis_causes import differential
from traindx.report.labelled import labelled
from traindx.report.layout import Screen
from traindx.report.text import count, lasting
from traindx.report.wording import percent, verdict_word

if TYPE_CHECKING:
    from traindx.core.nouns import Problem
    from traindx.experiment.arms import Outcome
    from traindx.experiment.confirm.belief import Belief
    from traindx.experiment.confirm.confirm import Confirmed, Tried
    from traindx.experiment.confirm.next_experiment import ExperimentChoice

_SHOWN = 3
_PLANNED = 6
_STYLES = {"cured": "good", "helped": "green", "hurt": "red", "inert": "dim", "same": "dim"}


def title(cause: str) -> str:
    known = causes().get(cause)
    return known.title if known is not None else cause


def standing(belief: Belief, most: int = _SHOWN) -> str:
    """`Learning rate too high 62 %, Gradients not clipped 20 %`."""
    ranked = sorted(belief.shares, key=lambda cause: -belief.shares[cause])[:most]
    return ", ".join(f"{title(cause)} {percent(belief.shares[cause])}" for cause in ranked)


def reason(choice: ExperimentChoice, belief: Belief) -> str:
    """Which causes an experiment tells apart."""
    if len(choice.plans) > 1:
        return "each of them does nothing where there is nothing to mend: one run rules causes out"
    up, down = belief.told_apart(choice.plans[0].experiment)
    names = " or ".join(title(cause) for cause in up[:2])
    if not down:
        return f"it tells {names} from anything else"
    return f"it tells {names} from {' and '.join(title(cause) for cause in down[:2])}"


def named(choice: ExperimentChoice) -> str:
    if len(choice.plans) > 1:
        return f"a check-up ({', '.join(plan.change.id for plan in choice.plans)})"
    plan = choice.plans[0]
    return f"{plan.experiment.title} ({plan.change})"


def head(problem: Problem, belief: Belief, screen: Screen) -> Iterator[str]:
    """What is to be confirmed."""
    yield from labelled("problem", problem.summary, screen, "bold")
    yield from labelled("causes", standing(belief), screen)


def plan_lines(menu: Sequence[ExperimentChoice], belief: Belief, screen: Screen) -> Iterator[str]:
    """The experiments there are, those that tell most a second first."""
    if not menu:
        yield from labelled("plan", "there is no experiment for these causes", screen)
    for number, choice in enumerate(menu[:_PLANNED]):
        told = f"{named(choice)}: {reason(choice, belief)}"
        cost = (
            f"{choice.bits:.2f} bits expected, {count(choice.steps, 'step')}, about {lasting(choice.seconds)}"
        )
        yield from labelled("plan" if number == 0 else "", f"{told}; {cost}", screen)
    if len(menu) > _PLANNED:
        yield from labelled("", f"{count(len(menu) - _PLANNED, 'further experiment')}", screen, "dim")


def observed_lines(problem: Problem, belief: Belief, outcome: Outcome, screen: Screen) -> Iterator[str]:
    yield ""
    took = f"{count(outcome.steps, 'step')}, {lasting(outcome.seconds)}"
    yield from labelled(
        "observed", f"the script as it is, recorded in full ({took}): {problem.summary}", screen
    )
    yield from labelled("now", standing(belief), screen)


def chosen_lines(number: int, choice: ExperimentChoice, belief: Belief, screen: Screen) -> Iterator[str]:
    yield ""
    yield from labelled(f"try {number}", named(choice), screen, "bold")
    yield from labelled("why", f"{reason(choice, belief)} ({choice.bits:.2f} bits expected)", screen)


def showed_lines(tried: Tried, screen: Screen) -> Iterator[str]:
    reading = tried.reading
    if reading.did:
        yield from labelled("did", "; ".join(reading.did[:2]), screen)
    style = _STYLES.get(reading.shown[0].outcome, "") if len(reading.shown) == 1 else ""
    took = f" ({count(reading.steps, 'step')}, {lasting(reading.seconds)})" if reading.steps else ""
    yield from labelled(
        "showed", reading.said.rstrip(".") + took, screen, style if reading.shown else "yellow"
    )
    if reading.shown:
        yield from labelled("now", _moved(tried), screen)


def _moved(tried: Tried) -> str:
    """The first causes of before and after with both shares."""
    before, after = tried.before.shares, tried.after.shares
    named = dict.fromkeys(sorted(after, key=lambda cause: -after[cause])[:_SHOWN])
    named.update(dict.fromkeys(sorted(before, key=lambda cause: -before[cause])[:1]))
    return ", ".join(f"{title(c)} {percent(before[c])} -> {percent(after[c])}" for c in named)


def ending(confirmed: Confirmed, everything: bool, screen: Screen) -> Iterator[str]:
    """The ranking after all experiments, its first cause in full."""
    if confirmed.problem is None:
        yield from labelled(verdict_word(confirmed.after).lower(), f"{confirmed.stopped}.", screen)
        return
    yield ""
    cost = f"{count(len(confirmed.tried), 'experiment')}, {lasting(confirmed.seconds)} of running"
    yield from labelled("stopped", f"{confirmed.stopped} ({cost})", screen)
    yield ""
    yield from differential(confirmed.problem, confirmed.after.run, everything, screen)
