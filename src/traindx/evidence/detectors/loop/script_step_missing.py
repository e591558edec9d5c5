"""Gradients are computed in the training loop, but no optimizer ever steps.

Seen when the script makes an optimizer, runs backward passes in a loop, and nowhere calls `step()` on an
optimizer or on a scaler, nor changes parameters by hand. With `tf.GradientTape`: no `apply_gradients`.

Silent when the optimizer is handed to code that cannot be read. Known mistake: none yet.
"""

from traindx.evidence.detectors._script import Detector, Edit, Finding, Places, Scripts, Skipped, Training
from traindx.evidence.detectors._script.keras_samples import taped
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place, put_after
from traindx.source.execution import CallEvent
from traindx.source.roles import is_optimizer
from traindx.source.tapes import applied
from traindx.source.values import Made, Value

DETECTOR = Detector(title="optimizer never steps", family="script_step_order")
_OWN = ("zero_grad", "state_dict", "load_state_dict", "add_param_group", "param_groups")


def detect(training: Training) -> Places:
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
    made = [e for e in training.trace.calls if e.value.name.startswith("keras.optimizers.")]
    looped = [one.event for one in training.tapes if one.event.loops]
    known = training.followed("gradient") and not any(_leaves(training, e.value) for e in made)
    if not made or not looped or applied(training.trace) or training.trace.methods("fit") or not known:
        return []
    text = (
        f"{where(looped[-1].spot)}: {code(looped[-1].spot)} makes gradients, and no line applies them "
        f"(`apply_gradients` of the optimizer of line {made[0].spot.line}): the weights never change."
    )
    places = (place(looped[-1].spot), place(made[0].spot))
    return [Finding(text, "silent_defect", "high", places=places)]


def _idle(training: Training, made: list[CallEvent]) -> list[Finding]:
    """Optimizers beside others that are cleared in a loop with a backward pass and never step."""
    stepping = [one for step in training.steps for one in step.optimizers]
    if not all(isinstance(one, Made) and one.kind == "call" for one in stepping):
        return []
    known = {step.event for step in training.steps} | set(training.scheduler_steps)
    if any(event not in known for event in training.trace.methods("step")):
        return []
    found = []
    for event in made:
        idle = all(one is not event.value for one in stepping) and not _leaves(training, event.value)
        loops = [z.loops[-1] for z in training.zeros if z.owner is event.value and z.loops]
        inner = [b for b in training.backwards if loops and loops[0] in b.loops]
        if idle and inner and not _changed_otherwise(training):
            found.append(_finding(inner[-1], event, training))
    return found


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
        if any(one is value for one in arguments) and "lr_scheduler" not in event.value.name:
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


def fires() -> Scripts:
    from traindx.source.script import parse_script

    yield parse_script(_LOOP.format("print(loss.item())"))
    yield taped(step="print(loss)")


def silent() -> Scripts:
    from traindx.source.script import parse_script

    yield parse_script(_LOOP.format("optimizer.step()"))
    yield taped()
    yield taped(step="optimizer.apply(gradients, model.trainable_variables)")
    yield taped(step="update(optimizer, gradients)")
    yield parse_script(_LOOP.format("scaler.step(optimizer)"))
    yield parse_script(_LOOP.format("if ready: update(optimizer)"))
    yield parse_script(
        "import torch\nx = torch.randn(3, requires_grad=True)\nfor i in range(3):\n    x.sum().backward()"
    )
