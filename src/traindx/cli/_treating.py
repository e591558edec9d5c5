"""What a treatment says while it runs: lines that stay, and one that moves on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from traindx.cli._progress_line import ExperimentProgress
from traindx.report.document import Block, Labelled
from traindx.report.text import count, lasting, percent, visible
from traindx.report.to_terminal import lines
from traindx.report.treatment import proof_text
from traindx.report.wording import leading, verdict_sentences, verdict_word

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.experiment.arms import Arm, Outcome
    from traindx.experiment.treat.candidates import CauseCandidates
    from traindx.experiment.treat.results import Trial

_CANDIDATES_SHOWN = 4
_STYLES = {"helped": "good", "hurt": "red", "no difference": "dim", "cannot tell": "yellow"}


class TreatProgress(ExperimentProgress):
    """Shows the progress of a treatment; with nothing but a plan, the whole plan."""

    def __init__(self, *, plan_only: bool = False, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._names_most = None if plan_only else _CANDIDATES_SHOWN
        self._runs_done = 0

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        blocks = list(getattr(self, f"_{kind}", _nothing)(**facts))
        if blocks and not self._quiet:
            self._moving.say(lines(blocks, self._screen), answer=self._names_most is None)
        self._draw()

    def _draw(self) -> None:
        progress = f"{count(self._runs_done, 'run')} done, " if self._runs_done else ""
        self._moving.draw(f"{progress}{self._activity or 'trying'}")

    # One method for each kind of news.

    def _progress(self, arm: Arm, steps: int, seconds: float) -> Iterator[Block]:
        of = f" of {arm.steps:,}" if arm.steps else ""
        self._activity = f"{visible(arm.name, 60)}: {steps:,}{of} steps, {lasting(seconds)}"
        yield from ()

    def _arm(self, outcome: Outcome) -> Iterator[Block]:
        del outcome
        self._runs_done += 1
        yield from ()

    def _diagnosed(self, diagnosis: Diagnosis, outcome: Outcome) -> Iterator[Block]:
        self._activity = "planning"
        took = f"{outcome.steps:,} {outcome.unit} in {lasting(outcome.seconds)}"
        yield Labelled("observed", f"{took}: {outcome.ended}")
        if outcome.ended == "crashed":
            yield Labelled("error", outcome.message, "alarm")
        style = "alarm" if diagnosis.verdict == "problem" else "good"
        for text in verdict_sentences(diagnosis):
            word = verdict_word(diagnosis).lower().removeprefix("no ")
            yield Labelled(word, text, style)
        for problem in diagnosis.problems[:1]:
            first = leading(problem)
            yield Labelled("seen", problem.summary)
            if first is not None:
                yield Labelled(
                    "evidence", " ".join(item.text for item in first.evidence[:2] if item.bits > 0)
                )
            if first is not None and first.place is not None and first.place.line:
                yield Labelled("where", f"{first.place.file}:{first.place.line}")

    def _planned(
        self, plan: tuple[CauseCandidates, ...], horizon: int, length: int, outcome: Outcome
    ) -> Iterator[Block]:
        for course in plan:
            names = [candidate.name for candidate in course.candidates]
            first_names = names[: self._names_most]
            further = f"; {len(names) - len(first_names)} more" if len(names) > len(first_names) else ""
            changes = "; ".join(first_names) + further
            if not names:
                changes = (
                    f"by hand: {course.instructions[0][1].text}"
                    if course.instructions
                    else "nothing can be tried"
                )
            head = f"{course.cause} ({percent(course.confidence)})"
            name = "plan" if course is plan[0] else ""
            yield Labelled(name, f"{head}: {changes}")
        first = next((course for course in plan if course.candidates), None)
        if first is not None:
            share = horizon / max(1, length)
            least, largest = 1 + share, len(first.candidates) * share + 1 + 4 * share
            seconds = outcome.seconds
            yield Labelled(
                "cost",
                f"{horizon:,} of {length:,} {outcome.unit} a trial; about {least:.1f} to {largest:.1f} more "
                f"trainings ({lasting(least * seconds)} to {lasting(largest * seconds)}) for the first cause",
            )

    def _tried(self, trial: Trial) -> Iterator[Block]:
        style = _STYLES.get(trial.verdict.word, "") if trial.verdict is not None else "dim"
        yield Labelled("tried", f"{trial.candidate.name}, {trial.length}: {trial.text}", style)

    def _edited(self, edited: Any, winner: Trial) -> Iterator[Block]:
        del winner
        self._activity = "running the edited script"
        yield Labelled("edit", edited.text)

    def _proven(self, proof: Any) -> Iterator[Block]:
        word = "good" if proof.reproduced else "alarm"
        yield Labelled("proof", f"the edited script itself: {proof_text(proof)}", word)
        for expectation in proof.expected:
            yield Labelled("expected", expectation.line)


def _nothing(**facts: Any) -> Iterator[Block]:
    del facts
    return iter(())
