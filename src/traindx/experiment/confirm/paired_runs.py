"""Experiments carried out: changed runs paired with the unchanged script, and what they show."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from traindx.core.nouns import Problem, Run
from traindx.experiment.arm_diagnosis import symptoms_of_run
from traindx.experiment.arms import Arm, Outcome
from traindx.experiment.confirm.belief import ExperimentObservation
from traindx.experiment.confirm.experiments import Planned
from traindx.experiment.confirm.next_experiment import ExperimentChoice
from traindx.experiment.confirm.outcome_words import (
    apart,
    same_numbers,
    show_active,
    show_fit,
    show_gain,
    show_inert,
    show_need,
    unreached,
)
from traindx.experiment.measure import Yardstick, fair_score, read_level, read_pair, steps_for_step, yardstick
from traindx.experiment.treat.remedy_verdict import judge
from traindx.knowledge.catalogue import symptoms

if TYPE_CHECKING:
    from traindx.experiment.arms import Workshop
    from traindx.experiment.edited_arms import EditedArms

_FURTHER = 3
_PACE_MOST = 8.0
_MOST_OF_TIME = 0.4
_LEAST_STEPS = 10
_ENOUGH = 0.7
_CHECKUP_TRIES = 3


@dataclass(frozen=True)
class ExperimentResult:
    """What the arms of an experiment gave; without `shown`, `text` is why."""

    shown: tuple[ExperimentObservation, ...]
    text: str
    steps: int
    seconds: float
    did: tuple[str, ...] = ()


class PairedRuns:
    """Runs arms of one script, each paired with the unchanged one of the same seed and length."""

    def __init__(
        self, workshop: Workshop, problem: Problem, seeds: int, seconds: float, untouched: Outcome | None
    ) -> None:
        self.problem = problem
        self.spent: list[Outcome] = []
        self.edits: EditedArms | None = None
        self._shop = workshop
        self._seeds = seeds
        self._ends = time.monotonic() + seconds
        self._baselines: dict[int, Outcome] = {} if untouched is None else {0: untouched}

    @property
    def seconds_left(self) -> float:
        """Seconds of the time budget."""
        return max(0.0, self._ends - time.monotonic())

    @property
    def cost(self) -> tuple[float, int]:
        """Seconds and steps of all runs so far."""
        return sum(outcome.seconds for outcome in self.spent), sum(outcome.steps for outcome in self.spent)

    def untouched(self, seed: int, steps: int | None) -> Outcome | None:
        """The script as it is for so many steps, or to its end, run once."""
        outcome = self._baselines.get(seed)
        if outcome is None or (outcome.ended == "stopped" and (steps is None or outcome.steps < steps)):
            outcomes = self._run([Arm(f"as it is, seed {seed}", (), seed, steps)])
            if outcomes:
                self._baselines[seed] = outcomes[0]
        return self._baselines.get(seed)

    def _run(self, arms: Sequence[Arm]) -> list[Outcome]:
        # No single run may eat up the time of all the others.
        limit = _MOST_OF_TIME * self.seconds_left if math.isfinite(self.seconds_left) else None
        run = [arm if self.edits is None else self.edits.arm(arm) for arm in arms]
        outcomes = {outcome.arm.seed: outcome for outcome in self._shop.run(run, timeout=limit)}
        self.spent += outcomes.values()
        return [outcomes[arm.seed] for arm in arms if arm.seed in outcomes]

    def carry_out(self, choice: ExperimentChoice, longer: bool) -> ExperimentResult:
        """An experiment or a check-up; once more and longer, where it is undecided and that is allowed."""
        if len(choice.plans) > 1:
            return self._checkup(choice)
        plan = choice.plans[0]
        observation, text, outcomes = None, "", list[Outcome]()
        for length in (choice.steps, _FURTHER * choice.steps):
            if length > choice.steps and not (longer and self._can_go_on(outcomes)):
                break
            for seed in range(self._seeds):
                self.untouched(seed, length)
            name = f"{plan.change}, seed"
            steps = max(_LEAST_STEPS, round(length * min(_PACE_MOST, self._pace(plan))))
            outcomes = self._run(
                [Arm(f"{name} {seed}", (plan.change,), seed, steps) for seed in range(self._seeds)]
            )
            observation, text = self._read(plan, outcomes, length)
            if observation is not None or text:
                break
        unclear = "the runs are too short or too noisy to decide"
        text = text or (observation.text if observation is not None else unclear)
        did = outcomes[0].changes.get(plan.change.id, ()) if outcomes else ()
        return _reading([observation] if observation is not None else [], text, outcomes, did)

    def _can_go_on(self, outcomes: Sequence[Outcome]) -> bool:
        """A longer run may decide, where the script continues and the time allows."""
        if any(outcome.ended != "stopped" for outcome in outcomes):
            return False
        return 2 * _FURTHER * sum(outcome.seconds for outcome in outcomes) < self.seconds_left

    # A check-up.

    def _checkup(self, choice: ExperimentChoice) -> ExperimentResult:
        """All changes in one run: each says whether there was anything to change."""
        plans, outcomes, reason = list(choice.plans), list[Outcome](), ""
        for _ in range(_CHECKUP_TRIES):
            latest = self._run([Arm("check-up", tuple(plan.change for plan in plans), 0, choice.steps)])
            outcomes += latest
            if not latest or latest[0].run is None or _cut_short(latest[0]):
                reason = latest[0].message if latest else "the time is up"
                break
            not_applicable = [plan for plan in plans if _hindered(latest[0], plan)]
            if not not_applicable:
                return self._revealed(plans, outcomes)
            # A change that cannot be applied ends the run: the others are tried without it.
            plans = [plan for plan in plans if plan not in not_applicable]
            reason = latest[0].message
        return _reading([], f"it could not be tried: {reason}", outcomes, ())

    def _revealed(self, plans: Sequence[Planned], outcomes: Sequence[Outcome]) -> ExperimentResult:
        last = outcomes[-1]
        observations, did = list[ExperimentObservation](), list[str]()
        for plan in plans:
            failed, effects = last.failed.get(plan.change.id), last.changes.get(plan.change.id, ())
            if failed and not unreached(failed):
                observations.append(show_inert(plan, failed))
            elif effects and not failed:
                observations.append(show_active(plan, effects[0]))
                did.append(effects[0])
        idle = sum(observation.outcome == "inert" for observation in observations)
        text = f"{idle} of {len(observations)} found nothing to change"
        if did:
            text += f"; found: {'; '.join(did)}"
        return _reading(observations, text, outcomes, ())

    # One experiment.

    def _read(
        self, plan: Planned, outcomes: Sequence[Outcome], steps: int
    ) -> tuple[ExperimentObservation | None, str]:
        """What the arms showed, or why they show nothing that counts."""
        pairs = [
            (self._baselines[outcome.arm.seed].run, outcome)
            for outcome in outcomes
            if outcome.arm.seed in self._baselines
        ]
        if not pairs or any(
            before is None or outcome.run is None or _cut_short(outcome) for before, outcome in pairs
        ):
            return None, f"it could not be tried: {outcomes[0].message if outcomes else 'the time is up'}"
        failed = next(
            (outcome.failed[plan.change.id] for outcome in outcomes if plan.change.id in outcome.failed), ""
        )
        runs = [
            (before, outcome.run)
            for before, outcome in pairs
            if before is not None and outcome.run is not None
        ]
        if failed and unreached(failed):
            return None, f"it could not be tried: {failed}"
        if plan.experiment.measure == "gain" and all(same_numbers(*pair) for pair in runs):
            return show_inert(plan, failed or "every number is the same without it"), ""
        if failed:
            return None, f"it could not be tried: {failed}"
        if plan.change.id == "weight_classes" and fair_score(runs[0][0]) is None:
            return (
                None,
                "it cannot be judged: no score is logged that is fair to rare classes (F1, recall, AUC)",
            )
        if plan.experiment.measure == "fit":
            return show_fit(plan, runs[0][1]), ""
        if plan.experiment.measure == "need":
            return show_need(plan, *runs[0], float(steps)), ""
        return self._gain(plan, runs, steps), ""

    def _gain(
        self, plan: Planned, runs: Sequence[tuple[Run, Run]], steps: int
    ) -> ExperimentObservation | None:
        by = self._by(plan, runs[0][0], steps)
        if by is None:
            return None
        pace = self._pace(plan)
        read = [
            read_pair(by, *run_pair, _common(*run_pair, by, pace), pace=pace, seed=seed)
            for seed, run_pair in enumerate(runs)
        ]
        pairs = [pair for pair in read if pair is not None]
        if not pairs:
            return None
        cured = symptoms()[self.problem.symptom].kind == "unstable" and self._symptom_gone(runs[0])
        verdict = judge(by, pairs)
        words = {apart(by, *run_pair, _common(*run_pair, by, pace), pace) for run_pair in runs}
        if verdict.word == "cannot tell" and len(words) == 1 and (word := words.pop()):
            verdict = replace(verdict, word=word)
        return show_gain(plan, verdict, cured)

    def _by(self, plan: Planned, run: Run, steps: int) -> Yardstick | None:
        if plan.change.id == "weight_classes":
            return fair_score(run)
        by = yardstick(run, [self.problem.symptom], other_loss=plan.change.alters_loss)
        if by is not None and read_level(run, by, float(steps)) is None and "loss" in run.series:
            return Yardstick("loss")
        return by

    def _pace(self, plan: Planned) -> float:
        """Steps that see as many samples as one step of the untouched run."""
        base = self._baselines.get(0)
        return steps_for_step([plan.change], base.run if base is not None else None)

    def _symptom_gone(self, runs: tuple[Run, Run]) -> bool:
        """Whether the symptom shows in the untouched run of this length and not in the changed one."""
        before, after = map(symptoms_of_run, runs)
        return self.problem.symptom in before and self.problem.symptom not in after


def _reading(
    observations: Sequence[ExperimentObservation],
    text: str,
    outcomes: Sequence[Outcome],
    did: tuple[str, ...],
) -> ExperimentResult:
    steps = max((outcome.steps for outcome in outcomes), default=0)
    return ExperimentResult(
        tuple(observations), text, steps, sum(outcome.seconds for outcome in outcomes), did
    )


def _cut_short(outcome: Outcome) -> bool:
    """Whether its time was over long before its steps were done."""
    return outcome.ended == "timed out" and outcome.steps < _ENOUGH * (outcome.arm.steps or 1)


def _hindered(outcome: Outcome, plan: Planned) -> bool:
    """Whether a change ended the run because it cannot be applied."""
    return plan.change.id in outcome.failed and f"{plan.change.id} could not be applied" in outcome.message


def _common(before: Run, after: Run, by: Yardstick, pace: float) -> float | None:
    """The last step of the untouched run up to which both have values, counted in samples."""
    if by.name not in before.series or by.name not in after.series:
        return None
    ends = float(before.series[by.name].steps[-1]), float(after.series[by.name].steps[-1]) / pace
    return min(ends) if all(map(math.isfinite, ends)) else None
