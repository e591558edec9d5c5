"""The optimizer steps when there are no gradients: cleared, or not made yet.

Seen when in every order of the loop's calls `zero_grad()` stands between the backward pass and `step()`,
or `step()` comes before `backward()` and the gradients are cleared in between: nothing is ever learned.

Silent when gradients are made in other ways (`autograd.grad`, assigned by hand) and when the clearing
depends on a condition that the step does not. Known mistake: none yet.
"""

from traindx.evidence.detectors._script import (
    Detector,
    Edit,
    Finding,
    Iteration,
    Iterations,
    Places,
    Script,
    Scripts,
    Training,
)
from traindx.evidence.detectors._script.gradients import certain_zeros, gradient_reaches
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place, put_after, remove
from traindx.source.execution import CallEvent

DETECTOR = Detector(title="step without gradients", family="script_step_order")


def detect(training: Training, iterations: Iterations) -> Places:
    return [_finding(one) for one in iterations if not gradient_reaches(training, one)]


def _finding(iteration: Iteration) -> Finding:
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
    same = zero.functions == step.functions and zero.arms == step.arms and zero.loops == step.loops
    again = put_after(step.spot, zero.spot.text, "safe")
    return (*away, *again) if away and again and same else ()


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


def _script(first: str, second: str, third: str, fourth: str = "pass") -> Script:
    from traindx.source.script import parse_script

    return parse_script(_LOOP.format(first=first, second=second, third=third, fourth=fourth))


def fires() -> Scripts:
    yield _script("pass", "loss.backward()", "optimizer.zero_grad()", "optimizer.step()")
    yield _script("optimizer.zero_grad()", "optimizer.step()", "loss.backward()")
    yield _script("pass", "optimizer.zero_grad()", "optimizer.step()", "loss.backward()")


def silent() -> Scripts:
    yield _script("optimizer.zero_grad()", "loss.backward()", "optimizer.step()")
    yield _script("pass", "loss.backward()", "optimizer.step()", "optimizer.zero_grad()")
    yield _script("optimizer.step()", "optimizer.zero_grad()", "loss.backward()")
    yield _script("pass", "loss.backward()", "if bad(loss): optimizer.zero_grad()", "optimizer.step()")
