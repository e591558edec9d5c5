"""Which cause is it? One experiment after the other until one cause stands out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from traindx.core.nouns import Diagnosis, Problem
from traindx.experiment.arm_diagnosis import acute, examined, symptoms_of_run
from traindx.experiment.confirm.belief import Belief, Shown, ranked_again
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
        subject = problem or next((suspects.recorded[one.cause].problem for one in suspects.open), None)
        if subject is not None:
            result = self._from_the_start(subject, problem is not None)
        else:
            blind = "" if "internals" in self._first.evidence else _LOOK_INSIDE
            result = self._without_problem(_NOTHING_WRONG + blind)
        spent = sum(one.seconds for one in suspects.answers if one.proved is not None)
        return replace(result, suspicions=suspects.answers, seconds=result.seconds + spent)

    def _without_problem(self, why: str, pairs: PairedRuns | None = None) -> Confirmed:
        result = Confirmed(self._first, self._first, None, (), why)
        if pairs is None:
            return result
        seconds, steps = sum(one.seconds for one in pairs.spent), sum(one.steps for one in pairs.spent)
        return replace(result, seconds=seconds, steps=steps, outside=self._shop.listed())

    def _from_the_start(self, subject: Problem, wrong: bool) -> Confirmed:
        """The script as it is, then the suspicions, then what separates the causes of its problem."""
        left = self._shop.left
        seconds = self._request.time_budget if left is None else min(left, self._request.time_budget)
        pairs = PairedRuns(self._shop, subject, self._request.seeds, seconds, self._untouched)
        watch = self._request.observe and "internals" not in self._first.evidence
        steps = far_enough(self._diagnosis, subject, self._request.steps)
        why = out_of_reach(self._diagnosis.run, subject, steps, seconds)
        # With only a log, the whole training is recorded once.
        untouched = None if why else pairs.untouched(0, self._request.steps if watch else steps)
        if not why and (untouched is None or untouched.run is None or not untouched.steps):
            reason = untouched.message if untouched is not None else "the time is up"
            why = f"the script could not be run again: {reason}"
        if why or untouched is None:
            self._suspects.give_up(why)
            return self._result(pairs, Belief.of(subject), (), why) if wrong else self._without_problem(why)
        if watch:
            wrong = self._observe(untouched, pairs) or wrong
            self._suspects.weigh(self._diagnosis)
        shown = self._test_suspicions(pairs, untouched)
        self._diagnosis = self._suspects.witnesses(self._diagnosis)
        problem = first_problem(self._diagnosis, self._request.top)
        if not wrong or problem is None:
            return self._without_problem(_NOTHING_WRONG, pairs)
        pairs.problem = problem
        steps = far_enough(self._diagnosis, problem, self._request.steps)
        return self._experiment(pairs, untouched, min(steps, untouched.steps), shown)

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

    def _test_suspicions(self, pairs: PairedRuns, untouched: Outcome) -> list[Shown]:
        """Every suspicion that is open by its experiments; what they showed."""
        shown: list[Shown] = []
        for one in list(self._suspects.open):
            about = self._suspects.recorded[one.cause]
            pairs.problem = about.problem
            why = self._no_start(untouched, about.problem) if about.listed else ""
            if why:
                self._suspects.answered(untested(one, about, why))
                continue
            steps = min(far_enough(self._diagnosis, about.problem, self._request.steps), untouched.steps)
            menu, price = self._menu(pairs, untouched), self._price(untouched)
            longer = self._request.steps is None
            answer = by_experiments(
                one, about, menu, pairs, steps, price, self._notify, known=shown, longer=longer
            )
            self._suspects.answered(answer)
            shown = list(answer.shown)
        return shown

    # The causes of the problem.

    def _menu(self, pairs: PairedRuns, untouched: Outcome) -> list[Planned]:
        menu = planned(pairs.problem, untouched.run or self._diagnosis.run)
        if untouched.changeable or self._script is None:
            return menu
        pairs.edits = EditedArms(self._script, self._shop.program.args, untouched.run)
        return [replace(one, apart=True) for one in menu if pairs.edits.edit([one.change]) is not None]

    def _price(self, untouched: Outcome) -> Price:
        return Price.measured(untouched.seconds, untouched.steps, Price.of(self._diagnosis.run).step)

    def _experiment(
        self, pairs: PairedRuns, untouched: Outcome, steps: int, shown: Sequence[Shown]
    ) -> Confirmed:
        problem = pairs.problem
        belief, tried = Belief.of(problem), list[Tried]()
        for one in shown:
            belief = belief.after(one)
        done = {one.experiment.id for one in shown}
        menu = [one for one in self._menu(pairs, untouched) if one.experiment.id not in done]
        price = self._price(untouched)
        stopped = self._no_start(untouched, problem)
        while not stopped:
            able = choices(menu, belief, steps, price)
            stopped = self._enough(able, belief, pairs.left)
            if stopped:
                break
            choice = next(one for one in able if one.bits >= _WORTH)
            self._notify("chosen", {"choice": choice, "belief": belief})
            reading = pairs.carry_out(choice, self._request.steps is None)
            after = belief
            for observation in reading.shown:
                after = after.after(observation)
            tried.append(Tried(choice, reading, belief, after))
            belief = after
            menu = _left_over(menu, choice, reading)
            self._notify("showed", {"tried": tried[-1]})
        return self._result(pairs, belief, tried, stopped)

    def _enough(self, able: Sequence[ExperimentChoice], belief: Belief, left: float) -> str:
        """Why to stop here, or nothing."""
        first, share = belief.first, belief.shares[belief.first]
        spoken = [one for one in belief.shown if one.bits(first) >= _SPEAKS]
        if share >= _SURE and belief.margin >= _MARGIN and spoken:
            return f"{first} stands out"
        if not able:
            return "no further experiment speaks about these causes"
        most = max(one.bits for one in able)
        if most < _WORTH:
            return f"no further experiment is expected to decide much (at best {most:.2f} bits)"
        return "" if left else "the time is up"

    def _no_start(self, untouched: Outcome, problem: Problem) -> str:
        assert untouched.run is not None
        if problem.symptom == "nonfinite" and problem.symptom not in symptoms_of_run(untouched.run):
            steps = untouched.steps
            return f"the untouched script did not show it in {steps} steps: nothing to compare with"
        return ""

    def _result(self, pairs: PairedRuns, belief: Belief, tried: Sequence[Tried], stopped: str) -> Confirmed:
        problem, old = ranked_again(pairs.problem, belief), self._diagnosis.problems
        problems = tuple(problem if one.findings == problem.findings else one for one in old)
        return Confirmed(
            self._first,
            replace(self._diagnosis, problems=problems),
            problem,
            tuple(tried),
            stopped,
            self._observed,
            sum(one.seconds for one in pairs.spent),
            sum(one.steps for one in pairs.spent),
            self._shop.listed(),
        )


def _left_over(menu: Sequence[Planned], choice: ExperimentChoice, reading: ExperimentResult) -> list[Planned]:
    """What can still be tried; what a check-up found, or could not check, by itself."""
    rest = [one for one in menu if one not in choice.plans]
    if len(choice.plans) == 1:
        return rest
    idle = {one.experiment.id for one in reading.shown if one.outcome == "inert"}
    checked = {one.experiment.id for one in reading.shown}
    again = [one for one in choice.plans if one.experiment.id not in idle]
    return rest + [replace(one, checked=one.experiment.id in checked, apart=True) for one in again]


def first_problem(diagnosis: Diagnosis, top: int | None = None) -> Problem | None:
    """The problem to confirm; with `top`, only so many of its causes are distinguished."""
    problem = next(iter(acute(diagnosis)), None)
    if problem is None or not problem.hypotheses:
        return None
    if top is None:
        return problem
    hypotheses = problem.hypotheses[:top]
    rest = problem.rest + sum(one.confidence for one in problem.hypotheses[top:])
    return replace(problem, hypotheses=hypotheses, rest=rest)
