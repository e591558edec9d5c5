"""Steps of the optimizer in the script."""

import ast

from traindx.evidence.detector import Cases, Detector, Finding, Skipped
from traindx.evidence.detectors._script import Edit, Iteration, Iterations, Places, Training, script
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import NO_LOOP, code, loss_of, sums, where
from traindx.source.edit_pieces import place, put_after
from traindx.source.execution import CallEvent
from traindx.source.roles import is_optimizer, loss_call
from traindx.source.script import parse_script
from traindx.source.tapes import applied
from traindx.source.values import Const, Made, Value, options

_SGD = "torch.optim.SGD(model.parameters(), lr=0.1)"
_PLAIN = (
    "loss = criterion(model(x), y)\nloss.backward()\nif i % 10 == 0: print(loss)\n"
    "optimizer.step()\noptimizer.zero_grad()"
)
_BODY = "{}\nloss = criterion(model(x), y)\n{}\nif (i + 1) % 4 == 0:\n    {}"
_LOOP = """
import torch
from torch import nn
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    {}
"""


@Detector("accumulation wrong", family="script_accumulation")
def script_accumulation_wrong(training: Training, iterations: Iterations) -> Places:
    """Gradients are added up over batches, but the loss is not divided, or they are cleared between.

    Seen when the optimizer steps at every k-th batch only (a test with `%`), or after a whole loop over
    batches, and either the gradients are cleared at every batch, so that all but the last batch's are lost,
    or the loss is the mean over a batch and nothing divides it by k, so that the step is k times as large.
    With Adam and its kin the size of gradients hardly matters: then the second is reported as doubtful.

    Silent when the loss is divided or averaged in any way, or comes from a function that cannot be read.
    Known mistake: a rate that was tuned with the sum.
    """
    several = [iteration for iteration in iterations if _accumulates(iteration)]
    if not several:
        return Skipped("a loop that adds up gradients over several batches")
    calls = {id(e.value): e for e in training.trace.events if loss_call(e) is not None}
    findings: dict[int, Finding] = {}
    for iteration in several:
        finding = _cleared(iteration) or _undivided(iteration, calls)
        if finding is not None:
            findings.setdefault(id(iteration.step.event.spot.node), finding)
    return [*findings.values()]


def _accumulates(iteration: Iteration) -> bool:
    """Whether the step waits for a count of batches that the backward pass does not wait for."""
    step, backward = iteration.step.event, iteration.backwards[0]
    if len(iteration.backwards) != 1:
        return False
    if backward.loop is not step.loop:
        return backward.loops[: len(step.loops)] == step.loops
    own = [arm for arm in step.arms if arm not in backward.arms]
    tests = [arm.node.test for arm in own if isinstance(arm.node, ast.If)]
    return any(isinstance(inner, ast.Mod) for test in tests for inner in ast.walk(test))


def _cleared(iteration: Iteration) -> Finding | None:
    step, backward = iteration.step.event, iteration.backwards[0]
    zeros = [z for z in iteration.zeros if z.arms == backward.arms[: len(z.arms)] and z.at < backward.at]
    if not zeros or zeros[-1].loops[-1:] != backward.loops[-1:]:
        return None
    spot = zeros[-1].event.spot
    text = (
        f"{where(spot)}: {code(spot)} clears the gradients at every batch, while {code(step.spot)} (line "
        f"{step.spot.line}) comes only after several: all but the last batch's are lost."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot), place(step.spot)))


def _undivided(iteration: Iteration, calls: dict[int, CallEvent]) -> Finding | None:
    backward = iteration.backwards[0]
    if backward.loop is not iteration.step.event.loop:
        return None
    ways = [inner for way in options(loss_of(backward)) for inner in options(_unscaled(way))]
    losses = [loss for loss in ways if not isinstance(loss, Const)]
    events = [calls[id(loss)] for loss in losses if id(loss) in calls]
    if not events or len(events) < len(losses) or any(sums(loss_call(event)) for event in events):
        return None
    adaptive = any(isinstance(o, Made) and "SGD" not in o.short for o in iteration.step.optimizers)
    text = (
        f"{where(backward.spot)}: {code(backward.spot)} adds up the gradients of several batches, and the "
        f"loss of line {events[0].spot.line} is not divided by their number: the step grows as many times."
    )
    places = (place(backward.spot), place(events[0].spot))
    return Finding(text, "silent_defect", "low" if adaptive else "medium", places=places)


def _unscaled(value: Value) -> Value:
    """The loss behind a scaler."""
    scaled = isinstance(value, Made) and value.kind == "method" and value.name == "scale" and value.args
    return value.args[0] if scaled and isinstance(value, Made) else value


@Detector("optimizer never steps", family="script_step_order", measured_by="optimizer_never_stepped")
def script_step_missing(training: Training) -> Places:
    """Gradients are computed in the training loop, but no optimizer ever steps.

    Seen when the script makes an optimizer, runs backward passes in a loop, and nowhere calls `step()` on an
    optimizer or on a scaler, nor changes parameters by hand. With `tf.GradientTape`: no `apply_gradients`.

    Silent when the optimizer is handed to code that cannot be read. Known mistake: none yet.
    """
    if training.tapes:
        return _taped(training)
    backwards = [e for e in training.backwards if e.loops and not e.grad_off]
    if not backwards:
        return NO_LOOP
    calls = [e for e in training.trace.events if e.value.kind == "call" and is_optimizer(e.value)]
    by_hand = any(e.value.name == "manual_backward" for e in backwards)
    if not calls or (training.managed and not by_hand) or not training.followed("step"):
        return [] if training.steps else Skipped("an optimizer that the script makes and uses itself")
    if training.steps or any(e.value.name.endswith("step") for e in training.trace.events):
        return _idle(training, calls)
    if _changed_otherwise(training) or any(_leaves(training, event.value) for event in calls):
        return Skipped("a script that steps its optimizer itself")
    return [_finding(backwards[-1], calls[0], training)]


def _taped(training: Training) -> list[Finding]:
    """Gradients taken from a tape that no optimizer, and no assignment, applies."""
    calls = [e for e in training.trace.calls if e.value.name.startswith("keras.optimizers.")]
    looped = [tape.event for tape in training.tapes if tape.event.loops]
    sure = training.followed("gradient") and not any(_leaves(training, e.value) for e in calls)
    if not calls or not looped or applied(training.trace) or training.trace.methods("fit") or not sure:
        return []
    text = (
        f"{where(looped[-1].spot)}: {code(looped[-1].spot)} makes gradients, and no line applies them "
        f"(`apply_gradients` of the optimizer of line {calls[0].spot.line}): the weights never change."
    )
    places = (place(looped[-1].spot), place(calls[0].spot))
    return [Finding(text, "silent_defect", "high", places=places)]


def _idle(training: Training, calls: list[CallEvent]) -> list[Finding]:
    """Optimizers beside others that are cleared in a loop with a backward pass and never step."""
    stepping = [o for step in training.steps for o in step.optimizers]
    if not all(isinstance(o, Made) and o.kind == "call" for o in stepping):
        return []
    stepped = {step.event for step in training.steps} | set(training.scheduler_steps)
    if any(event not in stepped for event in training.trace.methods("step")):
        return []
    findings = []
    for event in calls:
        idle = all(o is not event.value for o in stepping) and not _leaves(training, event.value)
        loops = [z.loops[-1] for z in training.zeros if z.owner is event.value and z.loops]
        inner = [b for b in training.backwards if loops and loops[0] in b.loops]
        if idle and inner and not _changed_otherwise(training):
            findings.append(_finding(inner[-1], event, training))
    return findings


def _changed_otherwise(training: Training) -> bool:
    """Whether parameters are changed by hand."""
    changing = ("sub_", "add_", "copy_", "data", "apply_gradients", "lerp_", "addcdiv_")
    return bool(training.trace.methods(*changing)) or any(
        b.added for b in training.trace.bindings if b.contexts
    )


def _leaves(training: Training, value: Value) -> bool:
    """Whether an optimizer is given to something that may step it."""
    for event in training.trace.events:
        arguments = [*event.value.args, *event.value.keywords.values()]
        if any(argument is value for argument in arguments) and "lr_scheduler" not in event.value.name:
            return True
    return False


def _finding(backward: CallEvent, optimizer: CallEvent, training: Training) -> Finding:
    names = [b.name for b in training.trace.bindings if b.value is optimizer.value and b.owner is None]
    text = (
        f"{where(backward.spot)}: {code(backward.spot)} makes gradients, but no line calls `step()` on the "
        f"optimizer of line {optimizer.spot.line}: the weights never change."
    )
    edits: tuple[Edit, ...] = put_after(backward.spot, f"{names[0]}.step()", "ask") if names else ()
    places = (place(backward.spot), place(optimizer.spot))
    return Finding(text, "silent_defect", "high", places=places, edits=edits)


def cases() -> Cases:
    yield from script_accumulation_wrong.fires(
        script(
            optimizer=_SGD,
            body=_BODY.format("pass", "loss.backward()", "optimizer.step(); optimizer.zero_grad()"),
        ),
        script(body=_BODY.format("optimizer.zero_grad()", "(loss / 4).backward()", "optimizer.step()")),
        script(body="optimizer.zero_grad()\ncriterion(model(x), y).backward()", end="optimizer.step()"),
    )
    yield from script_accumulation_wrong.silent(
        script(
            optimizer=_SGD,
            body=_BODY.format("pass", "(loss / 4).backward()", "optimizer.step(); optimizer.zero_grad()"),
        ),
        script(
            body=_BODY.format(
                "pass", "loss = loss / 4; loss.backward()", "optimizer.step(); optimizer.zero_grad()"
            )
        ),
        script(),
        script(body=_PLAIN),
    )
    yield from script_step_missing.fires(parse_script(_LOOP.format("print(loss.item())")))
    yield from script_step_missing.fires(taped(step="print(loss)"))
    yield from script_step_missing.silent(
        parse_script(_LOOP.format("optimizer.step()")),
        taped(),
        taped(step="optimizer.apply(gradients, model.trainable_variables)"),
        taped(step="update(optimizer, gradients)"),
        parse_script(_LOOP.format("scaler.step(optimizer)")),
        parse_script(_LOOP.format("if ready: update(optimizer)")),
        parse_script(
            "import torch\nx = torch.randn(3, requires_grad=True)\nfor i in range(3):\n    x.sum().backward()"
        ),
    )
