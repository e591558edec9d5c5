"""Gradients are added up over batches, but the loss is not divided, or they are cleared between.

Seen when the optimizer steps at every k-th batch only (a test with `%`), or after a whole loop over
batches, and either the gradients are cleared at every batch, so that all but the last batch's are lost,
or the loss is the mean over a batch and nothing divides it by k, so that the step is k times as large.
With Adam and its kin the size of gradients hardly matters: then the second is reported as doubtful.

Silent when the loss is divided or averaged in any way, or comes from a function that cannot be read.
Known mistake: a rate that was tuned with the sum.
"""

import ast

from traindx.evidence.detectors._script import (
    Detector,
    Finding,
    Iteration,
    Iterations,
    Places,
    Scripts,
    Skipped,
    Training,
    script,
)
from traindx.evidence.detectors._script.words import code, loss_of, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.roles import loss_call
from traindx.source.values import Const, Made, Value, options

DETECTOR = Detector(title="accumulation wrong", family="script_accumulation")
_SGD = "torch.optim.SGD(model.parameters(), lr=0.1)"
_PLAIN = (
    "loss = criterion(model(x), y)\nloss.backward()\nif i % 10 == 0: print(loss)\n"
    "optimizer.step()\noptimizer.zero_grad()"
)
_BODY = "{}\nloss = criterion(model(x), y)\n{}\nif (i + 1) % 4 == 0:\n    {}"


def detect(training: Training, iterations: Iterations) -> Places:
    several = [one for one in iterations if _accumulates(one)]
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
    every = [z for z in iteration.zeros if z.arms == backward.arms[: len(z.arms)] and z.at < backward.at]
    if not every or every[-1].loops[-1:] != backward.loops[-1:]:
        return None
    spot = every[-1].event.spot
    text = (
        f"{where(spot)}: {code(spot)} clears the gradients at every batch, while {code(step.spot)} (line "
        f"{step.spot.line}) comes only after several: all but the last batch's are lost."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot), place(step.spot)))


def _undivided(iteration: Iteration, calls: dict[int, CallEvent]) -> Finding | None:
    backward = iteration.backwards[0]
    if backward.loop is not iteration.step.event.loop:
        return None
    ways = [inner for one in options(loss_of(backward)) for inner in options(_unscaled(one))]
    losses = [one for one in ways if not isinstance(one, Const)]
    known = [calls[id(one)] for one in losses if id(one) in calls]
    if not known or len(known) < len(losses) or any(_summed(event) for event in known):
        return None
    adaptive = any(isinstance(o, Made) and "SGD" not in o.short for o in iteration.step.optimizers)
    text = (
        f"{where(backward.spot)}: {code(backward.spot)} adds up the gradients of several batches, and the "
        f"loss of line {known[0].spot.line} is not divided by their number: the step grows as many times."
    )
    places = (place(backward.spot), place(known[0].spot))
    return Finding(text, "silent_defect", "low" if adaptive else "medium", places=places)


def _unscaled(value: Value) -> Value:
    """The loss behind a scaler."""
    scaled = isinstance(value, Made) and value.kind == "method" and value.name == "scale" and value.args
    return value.args[0] if scaled and isinstance(value, Made) else value


def _summed(event: CallEvent) -> bool:
    found = loss_call(event)
    kind = found.setup.keywords.get("reduction") if found is not None else None
    return isinstance(kind, Const) and kind.value == "sum"


def fires() -> Scripts:
    yield script(
        optimizer=_SGD,
        body=_BODY.format("pass", "loss.backward()", "optimizer.step(); optimizer.zero_grad()"),
    )
    yield script(body=_BODY.format("optimizer.zero_grad()", "(loss / 4).backward()", "optimizer.step()"))
    yield script(body="optimizer.zero_grad()\ncriterion(model(x), y).backward()", end="optimizer.step()")


def silent() -> Scripts:
    yield script(
        optimizer=_SGD,
        body=_BODY.format("pass", "(loss / 4).backward()", "optimizer.step(); optimizer.zero_grad()"),
    )
    yield script(
        body=_BODY.format(
            "pass", "loss = loss / 4; loss.backward()", "optimizer.step(); optimizer.zero_grad()"
        )
    )
    yield script()
    yield script(body=_PLAIN)
