"""The backward pass in the script."""

import math

from traindx.evidence.detector import Cases, Detector, Finding, Skipped
from traindx.evidence.detectors._script import Edit, Iteration, Iterations, Places, Script, Training, script
from traindx.evidence.detectors._script.gradients import certain_zeros, gradient_reaches
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place, put_after, put_before, remove
from traindx.source.execution import Binding, CallEvent
from traindx.source.script import parse_script
from traindx.source.values import Made, Named, Spot, Value, number

_LOOP = """
import torch
from torch import nn
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    {first}
    loss = nn.functional.mse_loss(model(x), y)
    {second}
    {third}
    {fourth}
"""
CLIPS = (
    "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grad.clip_grad_norm_",
    "torch.nn.utils.clip_grad.clip_grad_value_",
)
_CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
_ZERO, _LOSS, _BACK, _STEP = (
    "optimizer.zero_grad()",
    "loss = criterion(model(x), y)",
    "loss.backward()",
    "optimizer.step()",
)


@Detector("backward missing", family="script_step_order")
def script_backward_missing(training: Training) -> Places:
    """The optimizer steps in a loop, but nothing computes gradients.

    Seen when the script steps an optimizer in a loop and nowhere calls `backward()` or `autograd.grad`, nor
    sets gradients by hand. In Lightning: `training_step` returns nothing.

    Silent when losses go to code that cannot be read, or `backward` is
    written somewhere that was not reached. Known mistake: none yet.
    """
    steps = [step for step in training.steps if step.event.loops and not step.event.handed]
    if not steps:
        return NO_LOOP
    if training.backwards or training.made_gradients or _elsewhere(training):
        return [] if training.backwards else Skipped("a backward pass that the script itself makes")
    own_steps = [
        step
        for step in steps
        if step.optimizers and all(isinstance(o, Made) and o.kind == "call" for o in step.optimizers)
    ]
    if not own_steps or own_steps[0].event.value.args:
        return Skipped("an optimizer that the script makes")
    step = own_steps[0].event
    losses = [b for b in training.trace.bindings if "loss" in b.name.lower() and step.loop in b.loops]
    if losses and training.managed:
        return [_not_returned(losses[-1].spot)]
    return [_finding(step.spot, losses)] if losses else Skipped("a loss in the loop")


_MODULE = """
import lightning as L
import torch
from torch import nn
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def training_step(self, batch, at):
        loss = nn.functional.mse_loss(self.layer(batch[0]), batch[1])
        {}
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
L.Trainer(max_epochs=3).fit(Net(), loader)
"""


def _elsewhere(training: Training) -> bool:
    """Whether the word stands anywhere in the script: a helper that was not reached, a library's function."""
    return any("backward" in source.text or "autograd" in source.text for source in training.script.sources)


def _not_returned(loss: Spot) -> Finding:
    text = (
        f"{where(loss)}: the loss of {code(loss)} is not returned by `training_step`: Lightning has nothing "
        "to minimise, and the weights never change."
    )
    return Finding(text, "silent_defect", "high", places=(place(loss),))


def _finding(step: Spot, losses: list[Binding]) -> Finding:
    loss = losses[-1]
    text = (
        f"{where(step)}: {code(step)} is called in the loop, but nothing computes gradients of the loss of "
        f"line {loss.spot.line}: the weights never change."
    )
    edits = put_before(step, f"{loss.name}.backward()", "ask")
    return Finding(text, "silent_defect", "high", places=(place(step), place(loss.spot)), edits=edits)


@Detector("step without gradients", family="script_step_order")
def script_step_without_gradient(training: Training, iterations: Iterations) -> Places:
    """The optimizer steps when there are no gradients: cleared, or not made yet.

    Seen when in every order of the loop's calls `zero_grad()` stands between the backward pass and `step()`,
    or `step()` comes before `backward()` and the gradients are cleared in between: nothing is ever learned.

    Silent when gradients are made in other ways (`autograd.grad`, assigned by hand) and when the clearing
    depends on a condition that the step does not. Known mistake: none yet.
    """
    return [_no_gradient(iteration) for iteration in iterations if not gradient_reaches(training, iteration)]


def _no_gradient(iteration: Iteration) -> Finding:
    step, backward = iteration.step.event, iteration.backwards[-1]
    between = [z for z in certain_zeros(iteration) if backward.at < z.at < step.at]
    if between:
        zero = between[-1].event
        text = (
            f"{where(zero.spot)}: {code(zero.spot)} is between {code(backward.spot)} (line "
            f"{backward.spot.line}) and {code(step.spot)} (line {step.spot.line}): the gradients are gone "
            "when the optimizer steps."
        )
        places = (place(zero.spot), place(step.spot))
    else:
        text = (
            f"{where(step.spot)}: {code(step.spot)} comes before {code(backward.spot)} (line "
            f"{backward.spot.line}), and the gradients are cleared in between: the optimizer never sees one."
        )
        places = (place(step.spot), place(backward.spot))
    spots = [z.event for z in between]
    edits = _moved(spots[-1], step) if spots and isinstance(spots[-1], CallEvent) else ()
    return Finding(text, "silent_defect", "high", places=places, edits=edits)


def _moved(zero: CallEvent, step: CallEvent) -> tuple[Edit, ...]:
    """The clearing taken out and put behind the step."""
    away = remove(zero.spot, "safe")
    same_place = zero.functions == step.functions and zero.arms == step.arms and zero.loops == step.loops
    again = put_after(step.spot, zero.spot.text, "safe")
    return (*away, *again) if away and again and same_place else ()


def _script(first: str, second: str, third: str, fourth: str = "pass") -> Script:
    return parse_script(_LOOP.format(first=first, second=second, third=third, fourth=fourth))


@Detector("clipping without effect", family="script_clip")
def script_clip_misplaced(training: Training, iterations: Iterations) -> Places:
    """Gradients are clipped where it has no effect: after the step or before the backward pass.

    Seen when the call that clips stands after `optimizer.step()` or before `backward()`: the step uses
    gradients as they are, and what is clipped is thrown away.

    Silent with several optimizers in one loop, with closures, and when gradients are made by hand. Known
    mistake: clipping without a limit, to measure the norm, is passed over only when the limit is written as
    infinite.
    """
    clips = [e for e in training.trace.named(*CLIPS) if not e.handed and _limits(e.value)]
    if not clips:
        return Skipped()
    findings: dict[int, Finding] = {}
    for clip in clips:
        for iteration in iterations:
            if iteration.loop in clip.loops and _alone(training, iteration):
                finding = _useless(clip, iteration)
                if finding is not None:
                    findings.setdefault(id(clip.spot.node), finding)
    return [*findings.values()]


def _limits(call: Made) -> bool:
    """Whether the limit is one: not infinite."""
    limit: Value | None = call.argument(1, "max_norm", "clip_value")
    plain = number(limit)
    infinite = isinstance(limit, Named) and limit.name in ("math.inf", "torch.inf", "numpy.inf")
    computed = isinstance(limit, Made) and limit.name == "float"
    return not infinite and not computed and (plain is None or math.isfinite(plain))


def _alone(training: Training, iteration: Iteration) -> bool:
    """Whether one optimizer steps in the loop, with gradients of a backward pass, once."""
    steps = [step for step in training.steps if iteration.loop in step.event.loops]
    by_hand = any(iteration.loop in gradient.loops for gradient in training.made_gradients)
    return len(steps) == 1 and not by_hand and not steps[0].event.handed and not steps[0].event.value.args[1:]


def _useless(clip: CallEvent, iteration: Iteration) -> Finding | None:
    step = iteration.step.event
    if step.value.args and iteration.step.scaler is None:
        return None
    moments = [(b.at, "backward") for b in iteration.backwards] + [(step.at, "step")]
    moments.sort()
    before = [moment for moment in moments if moment[0] < clip.at] or moments
    last = before[-1][1]
    if last == "backward":
        return None
    after = step.at < clip.at
    backward = iteration.backwards[0]
    if after:
        phrase = f"comes after {code(step.spot)} (line {step.spot.line})"
    else:
        phrase = f"comes before {code(backward.spot)} (line {backward.spot.line})"
    text = f"{where(clip.spot)}: {code(clip.spot)} {phrase}: the step uses gradients that nobody clipped."
    neighbour = step if after else backward
    return Finding(text, "silent_defect", "high", places=(place(clip.spot), place(neighbour.spot)))


def _body(*lines: str) -> Script:
    return script(body="\n".join(lines))


def cases() -> Cases:
    yield from script_backward_missing.fires(
        parse_script(_MODULE.format("self.log('loss', loss)")),
        script(body="optimizer.zero_grad()\nloss = criterion(model(x), y)\noptimizer.step()"),
    )
    yield from script_backward_missing.silent(
        parse_script(_MODULE.format("return loss")),
        parse_script(_MODULE.format("return {'loss': loss}")),
        parse_script(_MODULE.format("if at: return loss")),
        script(),
        script(body="loss = criterion(model(x), y)\naccelerator.backward(loss)\noptimizer.step()"),
        script(body="loss = my_closure(model, x, y)\noptimizer.step(loss)"),
    )
    yield from script_step_without_gradient.fires(
        _script("pass", "loss.backward()", "optimizer.zero_grad()", "optimizer.step()"),
        _script("optimizer.zero_grad()", "optimizer.step()", "loss.backward()"),
        _script("pass", "optimizer.zero_grad()", "optimizer.step()", "loss.backward()"),
    )
    yield from script_step_without_gradient.silent(
        _script("optimizer.zero_grad()", "loss.backward()", "optimizer.step()"),
        _script("pass", "loss.backward()", "optimizer.step()", "optimizer.zero_grad()"),
        _script("optimizer.step()", "optimizer.zero_grad()", "loss.backward()"),
        _script("pass", "loss.backward()", "if bad(loss): optimizer.zero_grad()", "optimizer.step()"),
    )
    yield from script_clip_misplaced.fires(_body(_ZERO, _LOSS, _CLIP, _BACK, _STEP))
    yield from script_clip_misplaced.fires(_body(_ZERO, _LOSS, _BACK, _STEP, _CLIP))
    yield from script_clip_misplaced.fires(_body(_LOSS, _BACK, _STEP, _CLIP, _ZERO))
    yield from script_clip_misplaced.silent(
        _body(_ZERO, _LOSS, _BACK, _CLIP, _STEP),
        _body(_ZERO, _LOSS, _BACK, f"if i % 2: {_CLIP}", _STEP),
        _body(_LOSS, _BACK, f"if i % 4 == 3:\n    {_CLIP}\n    {_STEP}\n    {_ZERO}"),
        _body(_ZERO, _LOSS, _BACK, _STEP, "nn.utils.clip_grad_norm_(model.parameters(), float('inf'))"),
        _body(_ZERO, _LOSS, _BACK, _STEP),
    )
