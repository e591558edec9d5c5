"""Losses are summed up or kept with their graphs: memory grows with every batch.

Seen when the training or validation loop adds the loss itself (not `loss.item()` or `loss.detach()`) to a
running total or appends it to a list, gradients are on, and no backward pass is made of the total.

Silent when the total is backpropagated after the inner loop. It costs memory, not accuracy: told as
doubtful. Known mistake: none yet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Edit, Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import NO_LOOP, Looked, code, first, loss_of, training_of, where
from traindx.script import Script
from traindx.script.flow import reach
from traindx.script.mending import place, replaced
from traindx.script.trace import NO_GRAD, Binding
from traindx.script.training import Training
from traindx.script.values import Items, Made, Spot, Value, options, parents
from traindx.units import Detector

DETECTOR = Detector(title="loss kept with its graph", needs=("script",), family="script_graph")
_STACKED = (
    "losses = []\nfor t in range(3): losses.append(criterion(model(x), y))\n"
    "optimizer.zero_grad()\nloss = torch.stack(losses).sum()\nloss.backward()\noptimizer.step()"
)
_BODY = "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()"


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None or not training.iterations:
        return NO_LOOP
    used = _backpropagated(training)
    roots = {id(one) for event in training.backwards for one in options(loss_of(event))}
    found: dict[int, Finding] = {}
    for binding in training.trace.bindings:
        made = binding.value
        on = not any(name in NO_GRAD for name in binding.contexts)
        if binding.added and binding.loops and on and isinstance(made, Made) and len(made.args) == 2:
            given = made.args[1]
            if _carries(given) and id(made) not in used and _from_outside(binding):
                found.setdefault(id(binding.spot.node), _finding(binding.spot, given))
    for event in training.trace.methods("append"):
        given_one = event.value.args[0] if event.value.args else None
        kept = isinstance(event.value.receiver, Items) and event.loops and not event.grad_off
        apart = kept and id(event.value.receiver) not in used and id(given_one) in roots
        if apart and given_one is not None and _carries(given_one):
            found.setdefault(id(event.spot.node), _finding(event.spot, given_one))
    return [*found.values()]


def _backpropagated(training: Training) -> set[int]:
    """Everything that losses are made of."""
    seen: set[int] = set()
    waiting = [loss_of(event) for event in training.backwards]
    while waiting and len(seen) < 20_000:
        at = waiting.pop()
        if id(at) not in seen:
            seen.add(id(at))
            waiting += parents(at)
    return seen


def _carries(value: Value) -> bool:
    """Whether a value has a graph: gradients reach layers from it."""
    return isinstance(value, Made) and value.graded and bool(reach(value).alive)


def _from_outside(binding: Binding) -> bool:
    """Whether the total began before the loop."""
    before = binding.before
    return before is not None and not (
        isinstance(before, Made) and before.spot is not None and _carries(before)
    )


def _finding(spot: Spot, given: Value) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} keeps the loss with its whole graph: memory grows with every batch. "
        "Its number is enough, and takes 1 value."
    )
    node = spot.node
    edits: tuple[Edit, ...] = ()
    written = (
        node.value
        if isinstance(node, ast.AugAssign)
        else node.args[0]
        if isinstance(node, ast.Call) and node.args
        else None
    )
    if isinstance(written, ast.Name):
        edits = replaced(Spot(spot.source, written), f"{written.id}.item()", "safe")
    del given
    return Finding(text, "memory_growth", "low", places=(place(spot),), edits=edits)


def fires() -> Iterator[Script]:
    yield script(start="total = 0.0", body=_BODY + "\ntotal += loss")
    yield script(start="losses = []", body=_BODY + "\nlosses.append(loss)")


def silent() -> Iterator[Script]:
    yield script(start="total = 0.0", body=_BODY + "\ntotal += loss.item()")
    yield script(start="total = 0.0", body=_BODY + "\ntotal += loss.detach()")
    yield script(
        start="total = 0.0",
        body="total = total + criterion(model(x), y)",
        end="total.backward()\noptimizer.step()\noptimizer.zero_grad()",
    )
    yield script(body=_STACKED)
