"""Whose parameters the optimizers hold, and which layers the script freezes."""

from __future__ import annotations

from traindx.script.flow import parts
from traindx.script.training import Training, sources

_FREEZERS = ("requires_grad_", "freeze")


def held(training: Training) -> set[int]:
    """The modules and layers (by id) whose parameters the optimizers that step were given."""
    found: set[int] = set()
    for step in training.steps:
        for optimizer in step.optimizers:
            for module in sources(optimizer):
                found |= {id(module), *(id(one) for one in parts(module))}
    return found


def frozen(training: Training) -> set[int]:
    """Layers that the script freezes on purpose; all of them when it is not clear which."""
    found: set[int] = set()
    for event in training.trace.methods(*_FREEZERS):
        if event.value.receiver is not None:
            found |= {id(event.value.receiver), *(id(one) for one in parts(event.value.receiver))}
    if any(binding.name == "requires_grad" for binding in training.trace.bindings):
        everything = [e.value for e in training.trace.events if e.value.kind == "call"]
        found |= {id(one) for one in everything} | {id(one) for one in training.trace.instances}
    return found
