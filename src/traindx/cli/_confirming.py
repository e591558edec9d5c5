"""What a confirmation says while it runs: lines that stay, and one that moves on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from traindx.cli._progress_line import ExperimentProgress
from traindx.report import confirmation as words
from traindx.report.suspicions import testing
from traindx.report.to_terminal import lines

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Problem
    from traindx.experiment.arms import Outcome
    from traindx.experiment.confirm.belief import Belief
    from traindx.experiment.confirm.confirm import ConfirmRequest, Tried
    from traindx.experiment.confirm.next_experiment import ExperimentChoice
    from traindx.knowledge.suspicions import Suspicion
    from traindx.report.document import Block


class ConfirmProgress(ExperimentProgress):
    """Shows the progress of a confirmation."""

    def __init__(self, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._number = 0

    def __call__(self, kind: str, facts: Mapping[str, Any]) -> None:
        method = getattr(self, f"_{kind}", None)
        if method is not None:
            gap = [] if kind == "showed" else [""]
            self.say([*gap, *lines(method(**facts), self._screen)])
        self._draw()

    def say(self, lines: list[str], *, answer: bool = False) -> None:
        if lines and not self._quiet:
            self._moving.say(lines, answer=answer)

    def begin(self, diagnosis: Diagnosis, request: ConfirmRequest) -> None:
        """What is to be told apart."""
        from traindx.experiment.confirm.belief import Belief
        from traindx.experiment.confirm.confirm import first_problem

        problem = first_problem(diagnosis, request.top)
        if problem is not None:
            self.say(lines(words.head(problem, Belief.of(problem)), self._screen))
        self.doing("running the script as it is")

    def plan(self, diagnosis: Diagnosis, request: ConfirmRequest) -> None:
        """The experiments there are, for --dry-run."""
        from traindx.experiment.confirm.belief import Belief
        from traindx.experiment.confirm.confirm import first_problem
        from traindx.experiment.confirm.experiments import planned
        from traindx.experiment.confirm.next_experiment import Price, choices, far_enough

        problem = first_problem(diagnosis, request.top)
        if problem is None:
            self.say(["  Nothing is wrong that could be confirmed."], answer=True)
            return
        belief = Belief.of(problem)
        steps = far_enough(diagnosis, problem, request.steps)
        menu = choices(planned(problem, diagnosis.run), belief, steps, Price.of(diagnosis.run))
        self.say(lines(words.plan_blocks(menu, belief), self._screen), answer=True)

    def _testing(self, suspicion: Suspicion, choice: ExperimentChoice | None) -> Iterator[Block]:
        self._activity = words.named(choice) if choice is not None else f"running with {suspicion.text}"
        yield from testing(suspicion, choice)

    def _chosen(self, choice: ExperimentChoice, belief: Belief) -> Iterator[Block]:
        self._number += 1
        self._activity = words.named(choice)
        yield from words.chosen(self._number, choice, belief)

    def _observed(self, problem: Problem, belief: Belief, outcome: Outcome) -> Iterator[Block]:
        yield from words.observed(problem, belief, outcome)

    def _showed(self, tried: Tried) -> Iterator[Block]:
        yield from words.showed(tried)
