"""Arms run for a treatment, and what they took: steps, seconds, the time that is left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from traindx.experiment.arms import Arm, Notify, Outcome, Stop, Workshop
from traindx.experiment.treat.request import TreatRequest
from traindx.experiment.treat.results import Cost

UNTOUCHED, EDITED, BEFORE = "untouched", "edited", "before, seed"
# Of the time for everything, what the untouched script may take at most.
_FIRST_SHARE, _FIRST_SHARE_MOST, _FIRST_STEPS = 0.3, 0.6, 200


class Ledger:
    """Runs arms in the workshop, reports them, and keeps their outcomes.

    `training` says which of several trainings of the script is meant; `proof_seconds` is what must be
    left for the edited script.
    """

    def __init__(self, workshop: Workshop, path: str, request: TreatRequest, notify: Notify) -> None:
        self.workshop = workshop
        self.path = path
        self.outcomes: list[Outcome] = []
        self.training = 0
        self.proof_seconds = 0.0
        self._request = request
        self._notify = notify
        self._pace = 0, 0.0

    def run(self, arms: Sequence[Arm], stop: Stop | None = None) -> list[Outcome]:
        """The outcomes in the order of the arms."""
        outcomes_by_name: dict[str, Outcome] = {}
        for ended in self.workshop.run(list(arms), stop=stop, progress=self.progress):
            outcome = self.named(ended)
            outcomes_by_name[outcome.arm.name] = outcome
            self.outcomes.append(outcome)
            self._notify("arm", {"outcome": outcome})
        return [outcomes_by_name[arm.name] for arm in arms if arm.name in outcomes_by_name]

    def named(self, outcome: Outcome) -> Outcome:
        """Its run under the name of the script: the recording is gone with the workshop."""
        if outcome.run is None:
            return outcome
        run = outcome.trainings[self.training] if self.training < len(outcome.trainings) else outcome.run
        return replace(outcome, run=replace(run, name=os.path.basename(self.path), path=self.path))

    def progress(self, arm: Arm, steps: int, seconds: float) -> None:
        self._pace = steps, seconds
        self._notify("progress", {"arm": arm, "steps": steps, "seconds": seconds})

    # Time and steps that are left.

    def enough_seen(self) -> Stop | None:
        """A training longer than the time for everything must leave some of it for trials."""
        budget = self.workshop.seconds_left
        if budget is None or self._request.dry_run:
            return None

        def stop(*_: object) -> str | None:
            steps, seconds = self._pace
            share = _FIRST_SHARE if steps >= _FIRST_STEPS else _FIRST_SHARE_MOST
            return "the rest of the time is for trials" if steps and seconds > share * budget else None

        return stop

    @property
    def trial_steps(self) -> int:
        """Steps of all runs but those of the script as it was and as it is in the end."""
        return sum(outcome.steps for outcome in self.outcomes if outcome.arm.name not in (UNTOUCHED, EDITED))

    def exhausted(self) -> bool:
        """Whether nothing more can be tried."""
        limit = self._request.trial_steps
        return self.workshop.spent or (limit is not None and self.trial_steps >= limit)

    def late(self) -> bool:
        """Whether what is left is needed to run the edited script."""
        seconds_left = self.workshop.seconds_left
        return self.exhausted() or (seconds_left is not None and seconds_left <= self.proof_seconds)

    # What it came to.

    def cost(self, whole: Outcome) -> Cost:
        """Everything that was run, compared with one run of the whole script."""
        seconds = sum(outcome.seconds for outcome in self.outcomes)
        work = sum(_work(outcome, whole) for outcome in self.outcomes)
        return Cost(
            seconds,
            sum(outcome.steps for outcome in self.outcomes),
            len(self.outcomes),
            whole.unit,
            work / whole.steps if whole.steps else 0.0,
            seconds / whole.seconds if whole.seconds else 0.0,
        )

    def before(self, first: Outcome) -> tuple[Outcome, ...]:
        """The untouched script: its whole run, and those on further seeds."""
        seeds = [
            outcome
            for outcome in self.outcomes
            if outcome.arm.name.startswith(BEFORE) and not outcome.arm.sources
        ]
        return (first, *seeds)


def _work(outcome: Outcome, whole: Outcome) -> float:
    """Its steps, as steps of the first run: one of another batch size is another amount of work."""
    sizes = [
        run_outcome.run.settings.get("batch_size") if run_outcome.run is not None else None
        for run_outcome in (outcome, whole)
    ]
    its, usual_size = (size if isinstance(size, int | float) and size > 0 else None for size in sizes)
    return outcome.steps * (its / usual_size if its and usual_size else 1.0)
