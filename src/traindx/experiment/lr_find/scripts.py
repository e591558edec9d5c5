"""The range test of an unmodified script: ramps as arms, in copies of its folder."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.facts import Fact, facts, number, word
from traindx.experiment.arms import Arm, Outcome, Progress, Workshop
from traindx.experiment.changes.stopping import DIVERGED_TEXT as DIVERGED
from traindx.experiment.edited_arms import EditedArms, unreachable
from traindx.experiment.lr_find.answer import STEPS_LEAST, RangeAnswer, answer
from traindx.experiment.lr_find.ramps import Ramps
from traindx.experiment.lr_find.search import RangeRequest, around, search
from traindx.experiment.runtime.change import Change

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray, Run
    from traindx.source.script import Script

# The control moves so little that its loss is that of the first weights.
_STILL = 1e-9
Notify = Callable[[str, Sequence[Arm]], None]


_NO_RAMP = (
    "{} trains: this training cannot be changed while it runs, and no edit of its source raises the learning "
    "rate step by step. 'traindx try lower_lr' and 'traindx try raise_lr' try single rates."
)


class CannotTest(Exception):
    """The script gives no range test; the message is one line for the user."""


@dataclass(frozen=True)
class _Walked:
    """The losses of one arm; `whole` when it ended before its steps without breaking."""

    losses: FloatArray
    whole: bool


@dataclass
class ScriptWalk:
    """Runs the requested arms, each once. `notify` is called with what is about to run."""

    shop: Workshop
    notify: Notify = lambda _, __: None
    progress: Progress | None = None
    loss: str = "loss"
    edits: EditedArms | None = None
    """Where no change at run time reaches the training: its changes as edits."""
    longest: int | None = None
    """Steps the script takes by itself, once known."""
    notes: list[str] = field(default_factory=list)
    _results: dict[tuple[object, ...], _Walked] = field(default_factory=dict)

    def __call__(
        self, first: float, last: float, steps: int, seeds: Sequence[int], *, controls: bool
    ) -> Ramps:
        """The ramps; where the script ends before, ramps over the steps there are."""
        steps = min(steps, self.longest or steps)
        activity = f"raising the rate from {first:.2g} to {last:.2g} in {steps} steps"
        ramps = [_ramp(first, last, steps, seed) for seed in seeds]
        control_arms = [_still(steps, seed) for seed in seeds] if controls else []
        self._run(activity, [*ramps, *control_arms])
        walked = [self._results[_key(arm)] for arm in ramps]
        shortest = min((result.losses.size for result in walked if result.whole), default=steps)
        if STEPS_LEAST <= shortest < steps:
            self.longest = shortest
            return self(first, last, shortest, seeds, controls=controls)
        rates = np.geomspace(first, last, steps)[:shortest]
        return Ramps.of(
            rates,
            [result.losses for result in walked],
            [self._results[_key(arm)].losses for arm in control_arms],
        )

    def still(self, steps: int, seed: int) -> Outcome:
        """The script with a rate of almost nothing: what it trains with, and the loss of each batch."""
        arm = _still(steps, seed)
        self.notify("running the script once", [arm])
        [outcome] = self._outcomes([arm])
        self._results[_key(arm)] = self._walked(outcome)
        if outcome.ended == "finished" and outcome.steps < steps:
            self.longest = outcome.steps
        return outcome

    def _run(self, activity: str, arms: Iterable[Arm]) -> None:
        missing = [arm for arm in arms if _key(arm) not in self._results]
        if not missing:
            return
        self.notify(activity, missing)
        for outcome in self._outcomes(missing):
            self._results[_key(outcome.arm)] = self._walked(outcome)

    def _outcomes(self, arms: Sequence[Arm]) -> Iterator[Outcome]:
        """Of arms with their changes, or of edited copies of the script that do the same."""
        by_name = {arm.name: arm for arm in arms}
        run = arms if self.edits is None else [self._edited(arm) for arm in arms]
        for outcome in self.shop.run(run, progress=self.progress):
            yield replace(outcome, arm=by_name[outcome.arm.name])

    def _edited(self, arm: Arm) -> Arm:
        assert self.edits is not None
        return self.edits.arm(arm)

    def _walked(self, outcome: Outcome) -> _Walked:
        if not outcome.steps:
            raise CannotTest(outcome.message)
        for change, reason in outcome.failed.items():
            raise CannotTest(f"{change} could not be applied: {reason}.")
        losses, rates = _curves(outcome.run, self.loss)
        if not losses.size:
            raise CannotTest(_nothing(outcome, self.loss))
        if outcome.ended in ("timed out", "interrupted"):
            raise CannotTest(f"{outcome.message}. Give it more time (--time-budget) or fewer --steps.")
        broke = outcome.ended == "crashed" or outcome.message.startswith(DIVERGED)
        # Another optimizer (a new fold, say) begins its ramp again: only the first counts.
        ramped = outcome.arm.changes[0].to_json()["id"] == "ramp_lr"
        falls = np.flatnonzero(np.diff(rates) < 0) if ramped else np.empty(0, dtype=np.intp)
        until = int(falls[0]) + 1 if falls.size else losses.size
        requested = outcome.arm.steps or losses.size
        whole = until < requested and not broke
        return _Walked(losses[:until], whole)


def _key(arm: Arm) -> tuple[object, ...]:
    return arm.changes, arm.seed, arm.steps


def _ramp(first: float, last: float, steps: int, seed: int) -> Arm:
    ramp = Change("ramp_lr", {"first": first, "last": last, "steps": steps}).checked()
    name = f"ramp {first:.2g} to {last:.2g}, seed {seed}"
    return Arm(name, (ramp, Change("stop_at_divergence").checked()), seed, steps, internals=False)


def _still(steps: int, seed: int) -> Arm:
    change = Change("scale_lr", {"factor": _STILL}).checked()
    return Arm(f"still, seed {seed}", (change,), seed, steps, internals=False)


def _curves(run: Run | None, name: str) -> tuple[FloatArray, FloatArray]:
    """Loss and rate of each step, as far as both are known."""
    loss, rate = (run.series.get(key) if run is not None else None for key in (name, "lr"))
    if loss is None or rate is None or not len(loss):
        return np.empty(0), np.empty(0)
    _, at, its = np.intersect1d(loss.steps, rate.steps, return_indices=True)
    return loss.values[at], rate.values[its]


def _nothing(outcome: Outcome, loss: str) -> str:
    if outcome.run is None or not outcome.steps:
        return outcome.message
    loss_names = [name for name in outcome.run.series if name.startswith("loss/")]
    if loss_names:
        return f"there is no one loss; name one with --loss: {', '.join(loss_names)}."
    return f"no '{loss}' was recorded for its {outcome.steps} steps."


def examined(walk: ScriptWalk, request: RangeRequest, script: Script | None = None) -> RangeAnswer:
    """The whole test: a run of the script as it is first."""
    if script is not None and unreachable(script):
        walk.edits = EditedArms(script, walk.shop.program.args)
        if walk.edits.edit(_ramp(1e-4, 1.0, request.steps, 0).changes) is None:
            raise CannotTest(_NO_RAMP.format(unreachable(script)))
    outcome = walk.still(request.steps, request.seed)
    if outcome.ended == "crashed":
        raise CannotTest(outcome.message)
    optimizer, current = _trained_with(outcome.run)
    if (walk.longest or request.steps) < STEPS_LEAST:
        losses = _curves(outcome.run, walk.loss)[0]
        return answer(Ramps.of(np.full(losses.size, current or math.nan), [losses]), current)
    request = RangeRequest(request.steps, request.seeds, request.seed, request.span, current)
    return search(walk, around(optimizer, current), request)


def _trained_with(run: Run | None) -> tuple[str, float | None]:
    """The leading optimizer and the rate of its first group: its peak, where a schedule names one."""
    leading: Fact = next(iter(facts(run.facts.get("optimizers"))), {}) if run is not None else {}
    group: Fact = next(iter(facts(leading.get("groups"))), {})
    for key in ("max_lr", "initial_lr"):
        if (peak_rate := number(group, key)) is not None and peak_rate > 0:
            return word(leading, "class"), peak_rate
    rate = run.series.get("lr") if run is not None else None
    peak = float(np.nanmax(rate.values)) / _STILL if rate is not None and len(rate) else 0.0
    return word(leading, "class"), float(f"{peak:.6g}") or None


def find_in_script(
    path: str | os.PathLike[str],
    args: tuple[str, ...],
    *,
    steps: int,
    seeds: int,
    seed: int,
    span: tuple[float, float] | None,
) -> RangeAnswer:
    """For `traindx.lr_find`."""
    from traindx.experiment.api import found_program, source_of

    program = found_program(path, args)
    with Workshop(program) as shop:
        try:
            return examined(ScriptWalk(shop), RangeRequest(steps, seeds, seed, span), source_of(program))
        except CannotTest as error:
            raise ValueError(str(error)) from None
