"""Which cause is it? One experiment after the other until one cause stands out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from traindx.core.nouns import Diagnosis, Problem
from traindx.experiment.arm_diagnosis import acute, examined, symptoms_of_run
from traindx.experiment.confirm.belief import Belief, ExperimentObservation, ranked_again
from traindx.experiment.confirm.experiments import Planned, planned
from traindx.experiment.confirm.next_experiment import (
    ExperimentChoice,
    Price,
    choices,
    far_enough,
    out_of_reach,
)
from traindx.experiment.confirm.paired_runs import ExperimentResult, PairedRuns
from traindx.experiment.confirm.suspects import Suspects
from traindx.experiment.confirm.suspicion_tests import SuspicionAnswer, by_experiments, by_patch, untested
from traindx.experiment.edited_arms import EditedArms
from traindx.knowledge.suspicions import Suspicion

if TYPE_CHECKING:
    from traindx.experiment.arms import Notify, Outcome, Workshop
    from traindx.source.script import Script

# Expected bits below which an experiment is not worth its time.
_WORTH = 0.04
_SURE, _MARGIN = 0.9, 4.0
_SPEAKS = 0.5
_NOTHING_WRONG = "nothing is wrong that could be confirmed"
_LOOK_INSIDE = "; that is by a log alone: traindx run also records the inside of the training"


@dataclass(frozen=True)
class Tried:
    """An experiment that was run: why, what it showed, how the ranking moved."""

    choice: ExperimentChoice
    reading: ExperimentResult
    before: Belief
    after: Belief


@dataclass(frozen=True)
class Confirmed:
    """A diagnosis after its experiments; `stopped` says why no more were made."""

    before: Diagnosis
    after: Diagnosis
    problem: Problem | None
    tried: tuple[Tried, ...]
    stopped: str
    observed: bool = False
    """Whether the untouched run, recorded in full, gave a diagnosis that knows more than the first."""
    seconds: float = 0.0
    steps: int = 0
    outside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the script did outside its copies: redirected, refused, let through."""
    suspicions: tuple[SuspicionAnswer, ...] = ()


@dataclass(frozen=True)
class ConfirmRequest:
    """What the user asked for; None leaves it to the experiments."""

    steps: int | None = None
    seeds: int = 1
    top: int | None = None
    time_budget: float = math.inf
    observe: bool = True
    suspicions: tuple[Suspicion, ...] = ()


class Confirmation:
    """The experiments on one script whose run has a diagnosis with every cause in it."""

    def __init__(
        self,
        workshop: Workshop,
        diagnosis: Diagnosis,
        request: ConfirmRequest,
        notify: Notify,
        script: Script | None = None,
        untouched: Outcome | None = None,
    ) -> None:
        self._shop = workshop
        self._first = diagnosis
        self._diagnosis = diagnosis
        self._request = request
        self._notify = notify
        self._script = script
        self._untouched = untouched
        self._observed = False
        self._suspects = Suspects(request.suspicions, script, notify)

    def run(self) -> Confirmed:
        problem, suspects = first_problem(self._diagnosis, self._request.top), self._suspects
        suspects.weigh(self._diagnosis)
        for patch in suspects.patches:
            suspects.answered(by_patch(patch, self._shop, self._script, self._request.steps, self._notify))
        subject = problem or next(
            (suspects.recorded[suspicion.cause].problem for suspicion in suspects.open), None
        )
        if subject is not None:
            result = self._from_the_start(subject, problem is not None)
        else:
            blind = "" if "internals" in self._first.evidence else _LOOK_INSIDE
            result = self._without_problem(_NOTHING_WRONG + blind)
        spent = sum(answer.seconds for answer in suspects.answers if answer.proved is not None)
        return replace(result, suspicions=suspects.answers, seconds=result.seconds + spent)

    def _without_problem(self, reason: str, pairs: PairedRuns | None = None) -> Confirmed:
        result = Confirmed(self._first, self._first, None, (), reason)
        if pairs is None:
            return result
        seconds, steps = pairs.cost
        return replace(result, seconds=seconds, steps=steps, outside=self._shop.listed())

    def _from_the_start(self, subject: Problem, has_problem: bool) -> Confirmed:
        """The script as it is, then the suspicions, then what separates the causes of its problem."""
        seconds_left = self._shop.seconds_left
        seconds = (
            self._request.time_budget
            if seconds_left is None
            else min(seconds_left, self._request.time_budget)
        )
        pairs = PairedRuns(self._shop, subject, self._request.seeds, seconds, self._untouched)
        watch = self._request.observe and "internals" not in self._first.evidence
        steps = far_enough(self._diagnosis, subject, self._request.steps)
        obstacle = out_of_reach(self._diagnosis.run, subject, steps, seconds)
        # With only a log, the whole training is recorded once.
        untouched = None if obstacle else pairs.untouched(0, self._request.steps if watch else steps)
        if not obstacle and (untouched is None or untouched.run is None or not untouched.steps):
            reason = untouched.message if untouched is not None else "the time is up"
            obstacle = f"the script could not be run again: {reason}"
        if obstacle or untouched is None:
            self._suspects.give_up(obstacle)
            return (
                self._result(pairs, Belief.of(subject), (), obstacle)
                if has_problem
                else self._without_problem(obstacle)
            )
        if watch:
            has_problem = self._observe(untouched, pairs) or has_problem
            self._suspects.weigh(self._diagnosis)
        observations = self._test_suspicions(pairs, untouched)
        self._diagnosis = self._suspects.witnesses(self._diagnosis)
        problem = first_problem(self._diagnosis, self._request.top)
        if not has_problem or problem is None:
            return self._without_problem(_NOTHING_WRONG, pairs)
        pairs.problem = problem
        steps = far_enough(self._diagnosis, problem, self._request.steps)
        return self._experiment(pairs, untouched, min(steps, untouched.steps), observations)

    def _observe(self, untouched: Outcome, pairs: PairedRuns) -> bool:
        """For a log, or a sparse recording: the untouched run recorded here shows more."""
        assert untouched.run is not None
        fuller = examined(untouched.run, self._script, every_cause=True, unchanged=True)
        problem = first_problem(fuller, self._request.top)
        if problem is None:
            if first_problem(self._diagnosis) is None:
                self._diagnosis = fuller
            return False
        self._diagnosis, self._observed, pairs.problem = fuller, True, problem
        self._notify("observed", {"problem": problem, "belief": Belief.of(problem), "outcome": untouched})
        return True

    def _test_suspicions(self, pairs: PairedRuns, untouched: Outcome) -> list[ExperimentObservation]:
        """Every suspicion that is open by its experiments; what they showed."""
        observations: list[ExperimentObservation] = []
        for suspicion in list(self._suspects.open):
            about = self._suspects.recorded[suspicion.cause]
            pairs.problem = about.problem
            obstacle = self._no_start(untouched, about.problem) if about.listed else ""
            if obstacle:
                self._suspects.answered(untested(suspicion, about, obstacle))
                continue
            steps = min(far_enough(self._diagnosis, about.problem, self._request.steps), untouched.steps)
            menu, price = self._menu(pairs, untouched), self._price(untouched)
            longer = self._request.steps is None
            answer = by_experiments(
                suspicion, about, menu, pairs, steps, price, self._notify, earlier=observations, longer=longer
            )
            self._suspects.answered(answer)
            observations = list(answer.shown)
        return observations

    # The causes of the problem.

    def _menu(self, pairs: PairedRuns, untouched: Outcome) -> list[Planned]:
        menu = planned(pairs.problem, untouched.run or self._diagnosis.run)
        if untouched.changeable or self._script is None:
            return menu
        pairs.edits = EditedArms(self._script, self._shop.program.args, untouched.run)
        return [replace(plan, apart=True) for plan in menu if pairs.edits.edit([plan.change]) is not None]

    def _price(self, untouched: Outcome) -> Price:
        return Price.measured(untouched.seconds, untouched.steps, Price.of(self._diagnosis.run).step)

    def _experiment(
        self, pairs: PairedRuns, untouched: Outcome, steps: int, observations: Sequence[ExperimentObservation]
    ) -> Confirmed:
        problem = pairs.problem
        belief, trials = Belief.of(problem), list[Tried]()
        belief = belief.after(*observations)
        menu = [plan for plan in self._menu(pairs, untouched) if plan.experiment.id not in belief.done]
        price = self._price(untouched)
        stop_reason = self._no_start(untouched, problem)
        while not stop_reason:
            able = choices(menu, belief, steps, price)
            stop_reason = self._enough(able, belief, pairs.seconds_left)
            if stop_reason:
                break
            choice = next(candidate for candidate in able if candidate.bits >= _WORTH)
            self._notify("chosen", {"choice": choice, "belief": belief})
            reading = pairs.carry_out(choice, self._request.steps is None)
            new_belief = belief.after(*reading.shown)
            trials.append(Tried(choice, reading, belief, new_belief))
            belief = new_belief
            menu = _left_over(menu, choice, reading)
            self._notify("showed", {"tried": trials[-1]})
        return self._result(pairs, belief, trials, stop_reason)

    def _enough(self, able: Sequence[ExperimentChoice], belief: Belief, seconds_left: float) -> str:
        """Why to stop here, or nothing."""
        first, share = belief.first, belief.shares[belief.first]
        supporting = [observation for observation in belief.shown if observation.bits(first) >= _SPEAKS]
        if share >= _SURE and belief.margin >= _MARGIN and supporting:
            return f"{first} stands out"
        if not able:
            return "no further experiment speaks about these causes"
        most_bits = max(choice.bits for choice in able)
        if most_bits < _WORTH:
            return f"no further experiment is expected to decide much (at best {most_bits:.2f} bits)"
        return "" if seconds_left else "the time is up"

    def _no_start(self, untouched: Outcome, problem: Problem) -> str:
        assert untouched.run is not None
        if problem.symptom == "nonfinite" and problem.symptom not in symptoms_of_run(untouched.run):
            steps = untouched.steps
            return f"the untouched script did not show it in {steps} steps: nothing to compare with"
        return ""

    def _result(
        self, pairs: PairedRuns, belief: Belief, trials: Sequence[Tried], stop_reason: str
    ) -> Confirmed:
        problem, old = ranked_again(pairs.problem, belief), self._diagnosis.problems
        seconds, steps = pairs.cost
        problems = tuple(
            problem if old_problem.findings == problem.findings else old_problem for old_problem in old
        )
        return Confirmed(
            self._first,
            replace(self._diagnosis, problems=problems),
            problem,
            tuple(trials),
            stop_reason,
            self._observed,
            seconds,
            steps,
            self._shop.listed(),
        )


def _left_over(menu: Sequence[Planned], choice: ExperimentChoice, reading: ExperimentResult) -> list[Planned]:
    """The plans that are left; of a check-up, those with something to change are now run one at a time."""
    remaining = [plan for plan in menu if plan not in choice.plans]
    if len(choice.plans) == 1:
        return remaining
    idle = {observation.experiment.id for observation in reading.shown if observation.outcome == "inert"}
    checked = {observation.experiment.id for observation in reading.shown}
    active_plans = [plan for plan in choice.plans if plan.experiment.id not in idle]
    return remaining + [
        replace(plan, checked=plan.experiment.id in checked, apart=True) for plan in active_plans
    ]


def first_problem(diagnosis: Diagnosis, top: int | None = None) -> Problem | None:
    """The problem to confirm; with `top`, only so many of its causes are distinguished."""
    problem = next(iter(acute(diagnosis)), None)
    if problem is None or not problem.hypotheses:
        return None
    if top is None:
        return problem
    hypotheses = problem.hypotheses[:top]
    rest = problem.rest + sum(hypothesis.confidence for hypothesis in problem.hypotheses[top:])
    return replace(problem, hypotheses=hypotheses, rest=rest)
