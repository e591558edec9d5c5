"""The scheduler steps before the optimizer does.

Seen when `scheduler.step()` stands before the `step()` of its optimizer in the same pass of a loop, or at
the head of an epoch before its batches: the first value of the schedule is skipped and all others come
one too early.

It costs little: told as doubtful. Silent when the two belong to different optimizers. Known mistake: a
scheduler that is meant to set the rate for the pass to come.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place
from traindx.script.trace import Event
from traindx.script.training import Step, Training
from traindx.script.values import Made, options
from traindx.units import Detector

DETECTOR = Detector(title="scheduler before optimizer", needs=("script",), family="script_schedule")
_SCHEDULE = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)"
_BODY = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()"


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations or not training.scheduler_steps:
        return (
            NO_LOOP if training is None or not training.iterations else Skipped("a scheduler that is stepped")
        )
    found: dict[int, Finding] = {}
    for event in training.scheduler_steps:
        step = next((one for one in training.steps if _too_early(training, event, one)), None)
        if step is not None:
            found.setdefault(id(event.spot.node), _finding(event, step))
    return [*found.values()]


def _too_early(training: Training, event: Event, step: Step) -> bool:
    """Whether in a pass of the loop both stand in the optimizer's step comes only after the schedule's."""
    at = step.event
    shared = [loop for loop in event.loops if loop in at.loops]
    if not shared or event.root is not at.root or event.handed or at.handed or event.arms:
        return False
    if event.loop is not shared[-1] or not _same(event, step):
        return False
    others = [one.event for one in training.steps if shared[-1] in one.event.loops]
    return all(event.at < one.at for one in others)


def _same(event: Event, step: Step) -> bool:
    """Whether the scheduler may belong to the optimizer of the step."""
    owners = [
        o
        for one in options(event.value.receiver)
        if isinstance(one, Made)
        for o in options(one.argument(0, "optimizer"))
    ]
    return not owners or any(one is other for one in owners for other in step.optimizers)


def _finding(event: Event, step: Step) -> Finding:
    spot = step.event.spot
    text = (
        f"{where(event.spot)}: {code(event.spot)} comes before {code(spot)} (line {spot.line}): the first "
        "rate of the schedule is never used."
    )
    return Finding(text, "silent_defect", "low", places=(place(event.spot), place(spot)))


def fires() -> Iterator[Script]:
    yield script(after=_SCHEDULE, start="scheduler.step()")
    yield script(after=_SCHEDULE, body="scheduler.step()\n" + _BODY)


def silent() -> Iterator[Script]:
    yield script(after=_SCHEDULE, end="scheduler.step()")
    yield script(after=_SCHEDULE, body=_BODY + "\nscheduler.step()")
    yield script(after=_SCHEDULE, start="if epoch > 0: scheduler.step()")
    yield script(after=_SCHEDULE.replace("optimizer,", "other,"), start="scheduler.step()")
