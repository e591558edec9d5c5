"""The modules whose parameters the optimizers hold, and the layers that the script freezes."""

from __future__ import annotations

from traindx.source.flow import parts
from traindx.source.optimizer_sources import owners_of, sources
from traindx.source.training import Training
from traindx.source.values import Const, Value

_FREEZERS = ("requires_grad_", "freeze")


def held(training: Training) -> set[int]:
    """The modules and layers (by id) whose parameters the optimizers that step were given."""
    ids: set[int] = set()
    added = _added(training)
    for step in training.steps:
        for optimizer in step.optimizers:
            for module in sources(optimizer):
                inner = [module, *parts(module)]
                later = [part for module in inner for part in added.get(id(module), ())]
                ids |= {id(part) for module in [*inner, *later] for part in (module, *parts(module, 3))}
    for event in training.manual_updates:
        for module in owners_of(event.value.receiver) if event.value.receiver is not None else []:
            ids |= {id(module), *(id(part) for part in parts(module))}
    return ids


def _added(training: Training) -> dict[int, list[Value]]:
    """Layers that are put into a sequence or list after it was made."""
    layers: dict[int, list[Value]] = {}
    for event in training.trace.methods("add_module", "append", "add", "extend", "insert"):
        if event.value.receiver is not None and event.value.args:
            layers.setdefault(id(event.value.receiver), []).append(event.value.args[-1])
    return layers


def frozen(training: Training) -> set[int]:
    """Layers that the script freezes on purpose; all of them when it is not clear which."""
    ids: set[int] = set()
    for event in training.trace.methods(*_FREEZERS):
        if event.value.receiver is not None:
            ids |= {id(event.value.receiver), *(id(part) for part in parts(event.value.receiver))}
    off = [b for b in training.trace.bindings if b.name == "requires_grad" and not _is_true(b.value)]
    switched = [b for b in off if b.owner is not None]
    owners = [owners_of(b.owner) for b in switched if b.owner is not None]
    for module in (module for owned in owners for module in owned):
        ids |= {id(module), *(id(part) for part in parts(module))}
    if any(not owned for owned in owners):
        everything = [e.value for e in training.trace.calls]
        ids |= {id(value) for value in everything} | {id(value) for value in training.trace.instances}
    return ids


def _is_true(value: Value) -> bool:
    return isinstance(value, Const) and value.value is True
