"""The learning rate schedule is counted in epochs and stepped with every batch, or the reverse.

Seen when a schedule whose length is that of the epochs (`T_max=epochs`, milestones and step sizes below the
number of epochs, a decay by several percent per step, a patience) is stepped inside the loop over batches:
the rate is gone within the first epoch. Seen as well when a schedule laid out over all batches (`OneCycleLR`
with `steps_per_epoch`, a length multiplied by `len(loader)`) is stepped once per epoch: it hardly moves. In
Keras: `decay_steps`, which counts batches, is the number of epochs. In Lightning: by the `interval` that
`configure_optimizers` gives, once per epoch without one.

Silent when the loops over epochs and batches cannot be told apart, when the call gets an epoch, and for
schedules of the script's own. Known mistake: a decay meant to be over within one epoch.
"""

from traindx.evidence.detector import Detector, Finding, Severity, Skipped
from traindx.evidence.detectors._script import Iteration, Places, Script, Scripts, Training, script
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.loops import (
    certain_iterations,
    epoch_count,
    epochs,
    per_batch,
    same_number,
    turns,
)
from traindx.evidence.detectors._script.schedules import length_in_batches, short_for_batches
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent, Loop
from traindx.source.keras import Compiled, compiled
from traindx.source.values import Made, number, options

_ENDING = frozenset("CosineDecay PolynomialDecay".split())
DETECTOR = Detector(title="schedule at the wrong pace", family="script_schedule")


def detect(training: Training) -> Places:
    keras = [fit_finding for model in compiled(training.trace) if (fit_finding := _of_fit(model)) is not None]
    if keras:
        return keras
    iterations = certain_iterations(training)
    if not iterations:
        return NO_LOOP
    pairs = [(iteration, around) for iteration in iterations if (around := epochs(iteration)) is not None]
    if not training.scheduler_steps or not pairs:
        return Skipped("a schedule stepped in a loop over epochs and one over batches")
    findings: dict[int, Finding] = {}
    for event in training.scheduler_steps:
        for iteration, around in pairs:
            finding = _wrong(event, iteration, around)
            if finding is not None:
                findings.setdefault(id(event.spot.node), finding)
    return [*findings.values()]


def _of_fit(model: Compiled) -> Finding | None:
    """A schedule of Keras, which counts batches, as long as the epochs of `fit` are many."""
    optimizer = model.optimizer
    schedule = optimizer.argument(0, "learning_rate") if isinstance(optimizer, Made) else None
    if (
        not isinstance(schedule, Made)
        or schedule.short not in _ENDING
        or schedule.open
        or len(model.fits) != 1
    ):
        return None
    length, fit = schedule.argument(1, "decay_steps", "first_decay_steps"), model.fits[0].value
    turns, size = fit.argument(3, "epochs"), fit.argument(2, "batch_size")
    whole = size is not None and number(size) is None
    if not same_number(length, turns) or number(length) in (None, 1) or whole or schedule.spot is None:
        return None
    text = (
        f"{where(schedule.spot)}: {code(schedule.spot)} lasts {number(length):g} batches, which is the "
        f"number of epochs of line {model.fits[0].spot.line}: the rate reaches its end in the first of them."
    )
    return Finding(text, "silent_defect", "high", places=(place(schedule.spot), place(model.fits[0].spot)))


def _wrong(event: CallEvent, iteration: Iteration, around: Loop) -> Finding | None:
    alternatives = options(event.value.receiver)
    schedule = alternatives[0] if len(alternatives) == 1 else None
    if not isinstance(schedule, Made) or schedule.kind != "call" or schedule.open:
        return None
    plateau = schedule.short == "ReduceLROnPlateau"
    if (event.value.args or event.value.keywords) and not plateau:
        return None
    if per_batch(event, iteration):
        why = short_for_batches(schedule, turns(around), epoch_count(around))
        return (
            _finding(event, schedule, why, "after every batch", "medium" if plateau else "high")
            if why
            else None
        )
    if iteration.loop in event.loops or around not in event.loops or event.loop is not around:
        return None
    why = length_in_batches(schedule, epoch_count(around))
    return _finding(event, schedule, why, "once per epoch", "high") if why else None


def _finding(event: CallEvent, schedule: Made, why: str, pace: str, severity: Severity) -> Finding:
    assert schedule.spot is not None
    call_text, schedule_text = (
        f"{code(event.spot)} is called {pace}",
        f"{code(schedule.spot)} (line {schedule.spot.line})",
    )
    if event.spot.node is schedule.spot.node:  # a trainer steps it
        call_text, schedule_text = f"{code(schedule.spot)} is stepped {pace}", "it"
    text = f"{where(event.spot)}: {call_text}, but {schedule_text} {why}."
    return Finding(text, "silent_defect", severity, places=(place(event.spot), place(schedule.spot)))


_STEP = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()\n"
_SCHEDULE = "scheduler = torch.optim.lr_scheduler."


def _batch(schedule: str, step: str = "scheduler.step()") -> Script:
    return script(after=_SCHEDULE + schedule, body=_STEP + step)


def _epoch(schedule: str) -> Script:
    return script(after=_SCHEDULE + schedule, end="scheduler.step()")


def fires() -> Scripts:
    yield _batch("CosineAnnealingLR(optimizer, T_max=5)")
    yield _batch("StepLR(optimizer, 3, gamma=0.1)")
    yield _batch("ExponentialLR(optimizer, 0.9)")
    yield _batch("ReduceLROnPlateau(optimizer)", "scheduler.step(loss)")
    yield _batch("MultiStepLR(optimizer, milestones=[2, 4])")
    yield _epoch("OneCycleLR(optimizer, 0.1, epochs=5, steps_per_epoch=len(loader))")
    yield _epoch("CosineAnnealingLR(optimizer, T_max=5 * len(loader))")
    yield fitted(optimizer="keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 20))")


def silent() -> Scripts:
    yield _epoch("CosineAnnealingLR(optimizer, T_max=5)")
    yield fitted(optimizer="keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 20 * 45))")
    yield _epoch("StepLR(optimizer, 3, gamma=0.1)")
    yield _batch("OneCycleLR(optimizer, 0.1, epochs=5, steps_per_epoch=len(loader))")
    yield _batch("CosineAnnealingLR(optimizer, T_max=5 * len(loader))")
    yield _batch("StepLR(optimizer, 3, gamma=0.1)", "if i % 100 == 0: scheduler.step()")
    yield _batch("ExponentialLR(optimizer, 0.9999)")
    yield _batch("CosineAnnealingWarmRestarts(optimizer, 3)", "scheduler.step(epoch + i / len(loader))")
    yield _batch("LambdaLR(optimizer, lambda step: min(1.0, step / 100))")
