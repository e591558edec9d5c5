"""The loss is the sum over the batch, not its mean.

Seen when the loss of the training loop is made with `reduction="sum"` the rate of plain SGD is 0.01 or
more, and nothing divides the loss before the backward pass: gradients, and with plain SGD the steps, grow
with the batch size.

The right rate is smaller by the batch size: a sign. Silent when the loss is divided, or the optimizer
does not mind the size of gradients (Adam). Known mistake: a rate that was chosen for the sum.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, loss_of, training_of, where
from traindx.script import Script
from traindx.script.mending import place
from traindx.script.trace import Event
from traindx.script.values import Const, Made, Value, number, options
from traindx.units import Detector

DETECTOR = Detector(title="loss summed over the batch", needs=("script",), family="script_loss")
_SGD = "torch.optim.SGD(model.parameters(), lr=0.1)"
_DIVIDED = "optimizer.zero_grad()\nloss = criterion(model(x), y) / len(x)\nloss.backward()\noptimizer.step()"


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations or not training.losses:
        return NO_LOOP
    found: dict[int, Finding] = {}
    for iteration in training.iterations:
        plain = any(_large_steps(one) for one in iteration.step.optimizers)
        roots = {id(one) for event in iteration.backwards for one in options(loss_of(event))}
        for loss in training.losses if plain else ():
            kind = loss.setup.keywords.get("reduction")
            summed = isinstance(kind, Const) and kind.value == "sum"
            if summed and id(loss.event.value) in roots:
                found.setdefault(id(loss.event.spot.node), _finding(loss.event))
    return [*found.values()]


def _large_steps(optimizer: Value) -> bool:
    """Whether it is plain SGD with a rate that is usual for means."""
    if not isinstance(optimizer, Made) or optimizer.short != "SGD":
        return False
    rate = number(optimizer.argument(1, "lr"))
    return rate is not None and rate >= 0.01


def _finding(event: Event) -> Finding:
    text = (
        f"{where(event.spot)}: {code(event.spot)} is the sum over the batch (line {event.spot.line}): with "
        "SGD the rate must be smaller by the batch size."
    )
    return Finding(text, severity="low", places=(place(event.spot),))


def fires() -> Iterator[Script]:
    yield script(optimizer=_SGD, setup="criterion = nn.MSELoss(reduction='sum')")


def silent() -> Iterator[Script]:
    yield script(optimizer=_SGD)
    yield script(setup="criterion = nn.MSELoss(reduction='sum')")
    yield script(optimizer=_SGD, setup="criterion = nn.MSELoss(reduction='sum')", body=_DIVIDED)
