"""What a treatment says while it runs: lines that stay, and one that moves on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from traindx.cli._progress_line import Moving
from traindx.report.labelled import hanging, labelled
from traindx.report.text import count, lasting, visible
from traindx.report.wording import percent, verdict_sentences, verdict_word

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.experiment.arms import Arm, Outcome
    from traindx.experiment.treat.candidates import CauseCandidates
    from traindx.experiment.treat.results import Trial

_CANDIDATES_SHOWN = 4
_STYLES = {"helped": "good", "hurt": "red", "no difference": "dim", "cannot tell": "yellow"}


class Telling:
    """Hears what a treatment does and says it."""

    def __init__(self) -> None:
        self._moving = Moving()
        self._screen = self._moving.screen
        self._done = 0
        self._doing = ""

    def __call__(self, kind: str, told: Mapping[str, Any]) -> None:
        lines = list(getattr(self, f"_{kind}", _nothing)(**told))
        if lines:
            self._moving.say(lines)
        self._draw()

    def doing(self, text: str) -> None:
        """What takes a while now."""
        self._doing = text
        self._draw()

    def close(self) -> None:
        self._moving.close()

    def _draw(self) -> None:
        done = f"{count(self._done, 'run')} done, " if self._done else ""
        self._moving.draw(f"{done}{self._doing or 'trying'}")

    # One method for each kind of news.

    def _progress(self, arm: Arm, steps: int, seconds: float) -> Iterator[str]:
        of = f" of {arm.steps:,}" if arm.steps else ""
        self._doing = f"{visible(arm.name, 60)}: {steps:,}{of} steps, {lasting(seconds)}"
        yield from ()

    def _arm(self, outcome: Outcome) -> Iterator[str]:
        del outcome
        self._done += 1
        yield from ()

    def _diagnosed(self, diagnosis: Diagnosis, outcome: Outcome) -> Iterator[str]:
        self._doing = "planning"
        took = f"{outcome.steps:,} steps in {lasting(outcome.seconds)}"
        yield from labelled("observed", f"{took}: {outcome.ended}", self._screen)
        if outcome.ended == "crashed":
            yield from labelled("error", outcome.said, self._screen, style="alarm")
        style = "alarm" if diagnosis.verdict == "problem" else "good"
        for text in verdict_sentences(diagnosis):
            word = verdict_word(diagnosis).lower().removeprefix("no ")
            yield from labelled(word, text, self._screen, style=style)
        for problem in diagnosis.problems[:1]:
            first = problem.hypotheses[0]
            yield from labelled("seen", problem.summary, self._screen)
            told = " ".join(item.text for item in first.evidence[:2] if item.bits > 0)
            if told:
                yield from labelled("evidence", told, self._screen)
            if first.place is not None and first.place.line:
                yield from labelled("where", f"{first.place.file}:{first.place.line}", self._screen)
        yield ""

    def _planned(
        self, plan: tuple[CauseCandidates, ...], horizon: int, length: int, outcome: Outcome
    ) -> Iterator[str]:
        for course in plan:
            names = [candidate.name for candidate in course.candidates]
            told = "; ".join(names[:_CANDIDATES_SHOWN])
            if len(names) > _CANDIDATES_SHOWN:
                told += f"; {len(names) - _CANDIDATES_SHOWN} more"
            if not names:
                told = (
                    f"by hand: {course.instructions[0].text}"
                    if course.instructions
                    else "nothing can be tried"
                )
            head = f"{course.cause} ({percent(course.confidence)})"
            name = "plan" if course is plan[0] else ""
            yield from labelled(name, f"{head}: {told}", self._screen)
        first = next((course for course in plan if course.candidates), None)
        if first is not None:
            share = horizon / max(1, length)
            least, most = 1 + share, len(first.candidates) * share + 1 + 4 * share
            seconds = outcome.seconds
            yield from labelled(
                "cost",
                f"{horizon:,} of {length:,} steps a trial; about {least:.1f} to {most:.1f} more trainings "
                f"({lasting(least * seconds)} to {lasting(most * seconds)}) for the first cause",
                self._screen,
            )

    def _tried(self, trial: Trial) -> Iterator[str]:
        style = _STYLES.get(trial.verdict.word, "") if trial.verdict is not None else "dim"
        yield from hanging(
            "",
            f"{trial.candidate.name}, {trial.steps:,} steps: {trial.text}",
            self._screen,
            name="tried",
            style=style,
        )

    def _edited(self, edited: Any, winner: Trial) -> Iterator[str]:
        del winner
        self._doing = "running the edited script"
        yield from labelled("edit", edited.text, self._screen)

    def _proven(self, proof: Any) -> Iterator[str]:
        word = "good" if proof.reproduced else "alarm"
        yield from labelled(
            "proof", f"the edited script itself: {proof.verdict.text}", self._screen, style=word
        )
        for expectation in proof.expected:
            yield from labelled("expected", expectation.line, self._screen)


def _nothing(**told: Any) -> Iterator[str]:
    del told
    return iter(())
