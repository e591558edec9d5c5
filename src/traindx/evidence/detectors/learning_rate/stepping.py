"""When the schedule is stepped."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Event, Finding, Skipped
from traindx.evidence.detectors._number_text import text, times
from traindx.evidence.detectors._number_text import where as at_step
from traindx.evidence.detectors._script import Iteration, Places, Training, script
from traindx.evidence.detectors._script.loops import certain_iterations
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.values import ListValue, Made, Value, options
from traindx.testing.sketch import decay, noisy, run

_PLAN = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)"
_BODY = "scheduler.step()\noptimizer.zero_grad()\ncriterion(model(x), y).backward()\noptimizer.step()"
_HARMLESS = frozenset("print len isinstance get_last_lr state_dict load_state_dict torch.save".split())


@Detector("Scheduler before optimizer", needs=("fact:schedulers",), family="schedule_order")
def scheduler_before_optimizer(case: Case) -> Detected:
    """The scheduler stepped before the optimizer's first step.

    Told by the recorder. The first value of the schedule is skipped, and every later one comes a step early:
    little harm where it steps each batch, an epoch where it steps each epoch.

    Silent when an optimizer took up a state that was loaded.
    """
    recorded_events = case.inside.events("scheduler_before_optimizer")
    if not recorded_events:
        return None
    sentence = f"At step 0 {recorded_events[0].text}: the first value of the schedule is never used."
    return Finding(sentence, "silent_defect", "low", recorded_events[0].step)


@Detector("scheduler before optimizer", family="script_schedule")
def script_scheduler_first(training: Training) -> Places:
    """The scheduler is stepped before the optimizer: the first learning rate is never used.

    Seen when `scheduler.step()` stands before `optimizer.step()` in the loop they share. The schedule runs
    one step ahead; where it warms up or is stepped per epoch, that is an epoch's rate.

    Silent when the call gets an epoch or stands under a condition (`if epoch > 0:`), and for schedulers that
    are not PyTorch's own. Known mistake: an optimizer that was stepped before the loop.
    """
    iterations = certain_iterations(training)
    if not iterations:
        return NO_LOOP
    if not training.scheduler_steps:
        return Skipped("a schedule in the script")
    findings: dict[int, Finding] = {}
    for event in training.scheduler_steps:
        for iteration in iterations:
            if _early(training, event, iteration):
                findings.setdefault(id(event.spot.node), _finding(event, iteration))
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
    return bool(event.loops) and not any(step.event.at < event.at for step in training.steps)


def _finding(event: CallEvent, iteration: Iteration) -> Finding:
    step = iteration.step.event.spot
    text = (
        f"{where(event.spot)}: {code(event.spot)} comes before {code(step)} (line {step.line}): the schedule "
        "is one step ahead and its first rate is never used."
    )
    return Finding(text, "silent_defect", "low", places=(place(event.spot), place(step)))


@Detector("schedule never stepped", family="script_schedule")
def script_scheduler_idle(training: Training) -> Places:
    """A learning rate schedule is made and never stepped: the rate stays as it is.

    Seen when the script makes a scheduler of PyTorch for the optimizer it trains with and nothing calls its
    `step()`.

    In Lightning: `configure_optimizers` makes it and does not return it.

    Silent when the scheduler is handed to anything else, and when not every `step()` of the script could be
    followed. Known mistake: none yet.
    """
    if not training.iterations:
        return NO_LOOP
    if not training.followed("step"):
        return Skipped("a way from the script's start to each of its step() calls")
    calls = [e for e in training.trace.events if e.value.name.startswith("torch.optim.lr_scheduler.")]
    if not calls:
        return Skipped("a schedule in the script")
    if training.scheduler_steps:
        return []
    why = "`configure_optimizers` does not return it" if training.managed else "nothing calls its step()"
    stepped = {id(optimizer) for step in training.steps for optimizer in step.optimizers}
    findings = []
    for event in calls:
        ours = any(id(option) in stepped for option in options(event.value.argument(0, "optimizer")))
        if ours and event.root is None and not event.handed and not _handed_on(training, event.value):
            text = (
                f"{where(event.spot)}: {code(event.spot)} is made and {why}: the learning rate never changes."
            )
            findings.append(Finding(text, "silent_defect", "low", places=(place(event.spot),)))
    return findings


def _handed_on(training: Training, schedule: Value) -> bool:
    """Whether something else gets the scheduler: another schedule, an object, a function of a library."""
    for event in training.trace.events:
        arguments = [*event.value.args, *event.value.keywords.values()]
        flat = [item for arg in arguments for item in (arg.items if isinstance(arg, ListValue) else [arg])]
        if event.value.name not in _HARMLESS and any(item is schedule for item in flat):
            return True
    return False


@Detector("Learning rate collapses at once", family="lr_schedule")
def lr_stepped_per_batch(
    case: Case,
    lr: Curve,
    *,
    fall_factor: float = 100.0,
    early_share: float = 0.1,
    min_loss_fall: float = 0.2,
    min_points: int = 20,
) -> Detected:
    """The learning rate collapses within the first epoch, or the first tenth of the run.

    The mark of a scheduler that counts epochs but is stepped at every batch: the rate falls {fall_factor}
    times or more by the first epoch's end (or a tenth of the planned or logged run) and stays there. Trouble
    when the loss makes little headway afterwards; otherwise a sign.

    Silent about rates that come back (restarts, cycles) and one lone high value at the start. Could not look
    when the log counts epochs only, or with fewer than {min_points} values.
    """
    if lr.axis == "epoch":
        return Skipped(f"at least {min_points} values of the learning rate, by steps")
    top = int(lr.y.argmax())
    peak, begin, end = float(lr.y[top]), float(lr.x[0]), float(lr.x[-1])
    if peak <= 0 or end <= begin or (top == 0 and lr.y[1] < peak / 3):
        return None
    high = np.flatnonzero(lr.y > peak / fall_factor)
    if high[-1] + 1 >= len(lr):
        return None
    low_from = float(lr.x[high[-1] + 1])
    horizon = max(early_share * max(case.planned_steps or 0.0, end - begin), 0.0)
    if case.epoch_length and case.run.axis == "step":
        horizon = max(horizon, min(case.epoch_length, 0.5 * (end - begin)))
    if low_from - begin > horizon or low_from > begin + 0.5 * (end - begin):
        return None
    rate, lost = float(lr.y[high[-1] + 1]), _headway(case, low_from)
    trouble = lost is not None and lost < min_loss_fall
    return Finding(
        text=f"The learning rate fell {times(fall_factor)} or more, from {text(peak)} to {text(rate)}, "
        f"by {at_step(lr, low_from)} of {text(end)}, and stayed there.",
        symptom="plateau" if trouble else None,
        severity="high",
        step=low_from,
        numbers={"lr_last": float(lr.y[-1]), "onset": low_from},
        marks=(low_from,),
    )


def _headway(case: Case, step: float) -> float | None:
    """What the loss lost after a step, relative to its level there; None when it cannot be told."""
    loss = case.loss
    if loss is None or case.surrogate or loss.axis == "epoch":
        return None
    before, after = loss.before(step), loss.after(step)
    if before.size < 2 or after.size < 5:
        return None
    level = float(np.median(before[-5:]))
    return (level - loss.tail) / abs(level) if level else None


def cases() -> Cases:
    event = Event("scheduler_before_optimizer", "StepLR stepped before the first optimizer step", 0.0)
    yield from scheduler_before_optimizer.fires(
        run({"loss": decay(60, 2.0, 0.5)}, events=[event], facts={"schedulers": [{"class": "StepLR"}]})
    )
    yield from scheduler_before_optimizer.silent(
        run({"loss": decay(60, 2.0, 0.5)}, facts={"schedulers": [{"class": "StepLR"}]}),
        run({"loss": decay(60, 2.0, 0.5)}),
    )
    yield from script_scheduler_first.fires(script(after=_PLAN, start="scheduler.step()"))
    yield from script_scheduler_first.fires(script(after=_PLAN, body=_BODY))
    yield from script_scheduler_first.silent(script(after=_PLAN, end="scheduler.step()"))
    yield from script_scheduler_first.silent(script(after=_PLAN, start="if epoch > 0: scheduler.step()"))
    yield from script_scheduler_first.silent(script(after=_PLAN, start="scheduler.step(epoch)"))
    yield from script_scheduler_first.silent(
        script(after=_PLAN + "\noptimizer.step()", start="scheduler.step()")
    )
    yield from script_scheduler_idle.fires(script(after=_PLAN))
    yield from script_scheduler_idle.fires(script(after=_PLAN, end="print(scheduler.get_last_lr())"))
    yield from script_scheduler_idle.silent(
        script(after=_PLAN, end="scheduler.step()"),
        script(after=_PLAN + "\nrun = Runner(model, scheduler)"),
        script(
            after=_PLAN + "\nwarm = torch.optim.lr_scheduler.ChainedScheduler([scheduler])", end="warm.step()"
        ),
        script(),
    )
    rate = np.maximum(0.1 * 0.9 ** np.arange(2000), 1e-12)
    loss = noisy(np.concatenate([np.linspace(2.3, 2.0, 50), np.full(1950, 1.98)]), 0.02)
    yield from lr_stepped_per_batch.fires(run({"lr": rate, "loss": loss}), run({"lr": rate}))
    yield from lr_stepped_per_batch.silent(run({"lr": np.geomspace(0.1, 1e-5, 2000)}))
    yield from lr_stepped_per_batch.silent(run({"lr": np.tile(np.geomspace(0.1, 1e-4, 50), 10)}))
    yield from lr_stepped_per_batch.silent(run({"lr": 0.5 ** np.arange(30)}, axis="epoch"))
    yield from lr_stepped_per_batch.silent(run({"lr": np.concatenate([[5.0], np.linspace(1e-3, 1e-4, 300)])}))
