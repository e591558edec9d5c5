"""The line of the training loop that makes each step wait."""

from __future__ import annotations

import ast

from traindx.source.anchors_of_loop import main_iteration
from traindx.source.execution import Event, Loop
from traindx.source.training import Training
from traindx.source.values import Spot


def waiting(training: Training) -> Spot | None:
    """What makes each step wait: saving, reading a number back, printing."""
    found = main_iteration(training)
    inner = [
        e for e in training.trace.events if found is not None and found.loop in e.loops and not e.grad_off
    ]
    for names in (
        ("save", "savez", "savez_compressed"),
        ("item", "cpu", "numpy", "tolist", "synchronize"),
        ("print", "log", "add_scalar"),
    ):
        for event in inner:
            if event.value.short in names:
                return _called_from(event, found.loop) if found is not None else event.spot
    return None


def _called_from(event: Event, loop: Loop) -> Spot:
    """The call in the loop that leads to what happens in a function written elsewhere."""
    names = {getattr(function, "name", "") for function in event.functions}
    for node in ast.walk(loop.spot.node):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called and called in names and not any(one is event.spot.node for one in ast.walk(node)):
                return Spot(loop.spot.source, node)
    return event.spot
