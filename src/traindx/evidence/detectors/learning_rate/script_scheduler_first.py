"""The scheduler is stepped before the optimizer: the first learning rate is never used.

Seen when `scheduler.step()` stands before `optimizer.step()` in the loop they share. The schedule runs one
step ahead; where it warms up or is stepped per epoch, that is an epoch's rate.

Silent when the call gets an epoch or stands under a condition (`if epoch > 0:`), and for schedulers that are
not PyTorch's own. Known mistake: an optimizer that was stepped before the loop.
"""

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Iteration,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.loops import certain_iterations
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.values import Made, options

DETECTOR = Detector(title="scheduler before optimizer", family="script_schedule")


def detect(training: Training) -> Places:
    iterations = certain_iterations(training)
    if not iterations:
        return NO_LOOP
    if not training.scheduler_steps:
        return Skipped("a schedule in the script")
    findings: dict[int, Finding] = {}
    for event in training.scheduler_steps:
        for one in iterations:
            if _early(training, event, one):
                findings.setdefault(id(event.spot.node), _finding(event, one))
    return [*findings.values()]


def _early(training: Training, event: CallEvent, iteration: Iteration) -> bool:
    step = iteration.step.event
    if event.value.args or event.value.keywords or event.root is not step.root or event.at > step.at:
        return False
    if event.loops != step.loops[: len(event.loops)] or event.arms != step.arms[: len(event.arms)]:
        return False
    if iteration.loop not in event.loops and event.loop not in step.loops:
        return False
    for schedule in options(event.value.receiver):
        torch = isinstance(schedule, Made) and "torch.optim.lr_scheduler." in schedule.name
        if not torch or schedule.argument(0, "optimizer") not in iteration.step.optimizers:  # type: ignore[attr-defined]
            return False
    return bool(event.loops) and not any(one.event.at < event.at for one in training.steps)


def _finding(event: CallEvent, iteration: Iteration) -> Finding:
    step = iteration.step.event.spot
    text = (
        f"{where(event.spot)}: {code(event.spot)} comes before {code(step)} (line {step.line}): the schedule "
        "is one step ahead and its first rate is never used."
    )
    return Finding(text, "silent_defect", "low", places=(place(event.spot), place(step)))


_PLAN = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)"
_BODY = "scheduler.step()\noptimizer.zero_grad()\ncriterion(model(x), y).backward()\noptimizer.step()"


def fires() -> Scripts:
    yield script(after=_PLAN, start="scheduler.step()")
    yield script(after=_PLAN, body=_BODY)


def silent() -> Scripts:
    yield script(after=_PLAN, end="scheduler.step()")
    yield script(after=_PLAN, start="if epoch > 0: scheduler.step()")
    yield script(after=_PLAN, start="scheduler.step(epoch)")
    yield script(after=_PLAN + "\noptimizer.step()", start="scheduler.step()")
