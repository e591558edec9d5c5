"""What a treatment found out, as plain data for the reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from traindx.core.nouns import Diagnosis
from traindx.core.number_text import lasting
from traindx.core.pool import PooledTrial
from traindx.experiment.treat.before_after import BeforeAfter, before_after

if TYPE_CHECKING:
    from traindx.experiment.arms import Outcome
    from traindx.experiment.edit import Edited, Instruction
    from traindx.experiment.treat.candidates import Candidate, CauseCandidates
    from traindx.experiment.treat.expectations import Expectation
    from traindx.experiment.treat.remedy_verdict import TrialVerdict

Status = Literal["healthy", "treated", "improved", "instructed", "not treated", "unclear"]


@dataclass(frozen=True)
class Trial:
    """One candidate tried for so many steps on so many seeds."""

    candidate: Candidate
    steps: int | None
    outcomes: tuple[Outcome, ...]
    verdict: TrialVerdict | None
    reason: str = ""
    """Why there is no verdict: it crashed, could not be applied, ran out of time."""
    expected: tuple[Expectation, ...] = ()
    """What the remedy's page expects, measured on the first pair."""

    @property
    def helped(self) -> bool:
        return self.verdict is not None and self.verdict.word == "helped"

    @property
    def length(self) -> str:
        """How long it was: `120 steps`; nothing where that was left to the script."""
        unit = self.outcomes[0].unit if self.outcomes else "steps"
        return f"{self.steps:,} {unit}" if self.steps else ""

    @property
    def text(self) -> str:
        """The verdict with its numbers, or why there is none."""
        return self.verdict.text if self.verdict is not None else f"not judged: {self.reason}"

    @property
    def record(self) -> PooledTrial:
        """As it is kept for later commands; two remedies at once say nothing about one of them."""
        remedies = (self.candidate.remedy, self.candidate.second_remedy)
        word = self.verdict.word if self.verdict is not None else "not judged"
        knobs = self.candidate.knobs
        return PooledTrial(" + ".join(filter(None, remedies)), self.candidate.name, word, self.text, knobs)


@dataclass(frozen=True)
class Proof:
    """The edited script, run as it is, compared with the script before the edit."""

    outcome: Outcome
    verdict: TrialVerdict
    diagnosis: Diagnosis
    reproduced: bool
    expected: tuple[Expectation, ...] = ()
    scores: BeforeAfter = field(default_factory=BeforeAfter)

    @property
    def refuted(self) -> bool:
        """Whether it speaks against the edit, and not only for too little."""
        return not self.reproduced and self.verdict.word in ("hurt", "no difference")


@dataclass(frozen=True)
class Round:
    """One change: what was planned and tried, what won, and what became of it in the source."""

    diagnosis: Diagnosis
    plan: tuple[CauseCandidates, ...]
    horizon: int | None
    trials: tuple[Trial, ...] = ()
    winner: Trial | None = None
    edited: Edited | None = None
    instruction: Instruction | None = None
    proof: Proof | None = None

    @property
    def proven(self) -> bool:
        """Whether its edit has shown the gain by itself."""
        return self.proof is not None and self.proof.reproduced and self.edited is not None

    @property
    def records(self) -> tuple[PooledTrial, ...]:
        """Its trials; of a winner whose edit did not hold, what its proof says."""
        if self.proof is None or self.proof.reproduced:
            return tuple(trial.record for trial in self.trials)
        proof = self.proof.verdict
        word = "cannot tell" if proof.word == "helped" else proof.word
        return tuple(
            replace(trial.record, verdict=word, text=proof.text) if trial is self.winner else trial.record
            for trial in self.trials
        )


def records_after(rounds: Sequence[Round]) -> tuple[PooledTrial, ...]:
    """What the trials say about the last script: its own ones, and what was applied before it."""
    applied = [round_.winner.record for round_ in rounds if round_.proven and round_.winner is not None]
    last = () if not rounds or rounds[-1].proven else rounds[-1].records
    return (*last, *(replace(record, verdict="applied") for record in applied))


@dataclass(frozen=True)
class Cost:
    """What the trials took, also in trainings of the whole script."""

    seconds: float = 0.0
    steps: int = 0
    arms: int = 0
    unit: str = "steps"
    trainings: float = 0.0
    trainings_seconds: float = 0.0

    @property
    def text(self) -> str:
        runs = "1 run" if self.arms == 1 else f"{self.arms:,} runs"
        return (
            f"{runs} of the script, {self.steps:,} {self.unit} in all ({self.trainings:.1f} times the first "
            f"run), {lasting(self.seconds)}"
        )


@dataclass(frozen=True)
class Treated:
    """A treatment from the first diagnosis to the edited script."""

    script: str
    args: tuple[str, ...]
    status: Status
    summary: str
    before: Diagnosis | None
    baseline: tuple[Outcome, ...] = ()
    rounds: tuple[Round, ...] = ()
    after: tuple[Outcome, ...] = ()
    final: Diagnosis | None = None
    sources: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Path -> text before and after, of every file the treatment changes."""
    new_args: tuple[str, ...] | None = None
    cost: Cost = field(default_factory=Cost)
    trial_steps: int = 0
    stop: tuple[str, ...] = ()
    """Where several remedies failed: what was tried, and what to question instead of tuning further."""

    @property
    def proven(self) -> bool:
        """Whether there is a change that the edited script has shown to help."""
        return self.status in ("treated", "improved")

    @property
    def scores(self) -> BeforeAfter:
        """The first run before and after everything; empty where nothing helped."""
        before, after = (
            next((outcome for outcome in arms if outcome.run), None) for arms in (self.baseline, self.after)
        )
        if before is None or after is None or before.run is None or after.run is None:
            return BeforeAfter()
        return before_after(before.run, after.run, after.steps if after.steps < before.steps else None)
