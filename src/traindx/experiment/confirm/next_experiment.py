"""Which experiment comes next: the one with the most expected information per second of running."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traindx.core.nouns import Diagnosis, Problem, Run
from traindx.experiment.confirm.belief import Belief
from traindx.experiment.confirm.experiments import Planned
from traindx.experiment.horizon import shows_late

_LEAST = 60
_BEYOND = 1.3
_SHARE = 0.4
_VALIDATIONS = 3
_FIT_MOST = 200
_USUAL = 200
_START = 3.0
_REVEALED = ("inert", "active")
# What several changes reveal in one run overlaps a little.
_SHARED = 0.8


@dataclass(frozen=True)
class Price:
    """Seconds: to start an arm, and for each of its steps."""

    start: float
    step: float

    @classmethod
    def of(cls, run: Run) -> Price:
        series = run.series.get("step_s")
        pace = float(np.nanmedian(series.values)) if series is not None and len(series) else 0.0
        return cls(_START, pace if np.isfinite(pace) else 0.0)

    @classmethod
    def measured(cls, seconds: float, steps: int, pace: float) -> Price:
        """From an arm that was run: what is not steps is the start."""
        step = min(pace, seconds / max(1, steps))
        return cls(max(0.2, seconds - steps * step), step)

    def seconds(self, steps: int) -> float:
        return self.start + steps * self.step


@dataclass(frozen=True)
class ExperimentChoice:
    """An experiment, or a check-up by several: how many steps, its expected information and cost."""

    plans: tuple[Planned, ...]
    steps: int
    bits: float
    seconds: float


def choices(menu: Sequence[Planned], belief: Belief, steps: int, price: Price) -> list[ExperimentChoice]:
    """All of them, those with the most expected bits per second first."""
    able = []
    for plan in menu:
        need = steps_of(plan, steps)
        outcomes = () if not plan.checked else tuple(o for o in plan.experiment.outcomes if o != "inert")
        bits = belief.expected(plan.experiment, outcomes)
        able.append(ExperimentChoice((plan,), need, bits, price.seconds(need)))
    checked = [plan for plan in menu if plan.reveals]
    if len(checked) > 1:
        bits = sum(belief.expected(plan.experiment, _REVEALED) for plan in checked)
        able.append(ExperimentChoice(tuple(checked), steps, _SHARED * bits, price.seconds(steps)))
    return sorted(able, key=lambda choice: -choice.bits / choice.seconds)


def steps_of(plan: Planned, steps: int) -> int:
    """Steps of an arm; a batch that can be memorised is memorised early."""
    return min(steps, _FIT_MOST) if plan.experiment.measure == "fit" else steps


def out_of_reach(run: Run, problem: Problem, steps: int, seconds: float) -> str:
    """Why no experiment fits into the time, or nothing: two runs at least must pass the onset."""
    run_seconds = Price.of(run).seconds(steps)
    if 2 * run_seconds <= seconds or run.axis != "step":
        return ""
    onset = problem.onset_step or 0.0
    onset_text = f"to pass the onset at step {onset:,.0f} " if onset else ""
    return (
        f"each run takes {steps:,} steps {onset_text}(about {run_seconds / 60:,.0f} minutes) and an "
        "experiment two: give a longer --time-budget, or --steps"
    )


def far_enough(diagnosis: Diagnosis, problem: Problem, steps: int | None) -> int:
    """Steps of an arm: past the onset and the first validations, or a usual number of them."""
    if steps is not None:
        return steps
    run = diagnosis.run
    length = int(run.last_step or 0) if run.axis == "step" else 0
    if length < 1:
        return _USUAL
    if shows_late(problem):
        return length
    onset = problem.onset_step or 0.0
    validated, validations = run.series.get("val/loss"), 0.0
    if validated is not None and len(validated) >= _VALIDATIONS and validated.axis == "step":
        validations = float(validated.steps[_VALIDATIONS - 1]) + 1
    return int(min(length, max(_LEAST, _SHARE * length, _BEYOND * onset, validations)))
