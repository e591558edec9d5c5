"""Checkpoints: what was saved is loaded, under the names it has."""

from __future__ import annotations

import ast
import re

from traindx.core.nouns import Place
from traindx.experiment.edit.job import Job, once
from traindx.experiment.edit.result import Uncertain
from traindx.source.execution import CallEvent
from traindx.source.roles import is_optimizer
from traindx.source.values import Const, DictValue, Made, Value, options

_PREFIX = re.compile(r"""f?["']module\.""")


def restore(job: Job, place: Place | None) -> str:
    for edit in (_prefix, _optimizer):
        description = edit(job)
        if description:
            return description
    raise Uncertain("Load all that was saved: weights, optimizer, schedule, scaler and step.", place)


def _loads(job: Job) -> list[CallEvent]:
    return once(job.training.trace.methods("load_state_dict"))


def _prefix(job: Job) -> str:
    """Names that were saved with a `module.` before them lose it when they are loaded."""
    for event in _loads(job):
        strict = event.value.argument(1, "strict")
        node = event.spot.node
        loose = isinstance(strict, Const) and strict.value is False
        prefixed = any(_PREFIX.search(source.text) for source in job.script.sources)
        stripped = any(
            "removeprefix" in source.text or ".replace(" in source.text for source in job.script.sources
        )
        if not loose or not prefixed or stripped or not isinstance(node, ast.Call) or not node.args:
            continue
        text = job.draft.text(node.args[0])
        new = f'{{name.removeprefix("module."): value for name, value in {text}.items()}}'
        job.draft.replace(node.args[0], new)
        return f"The names lose their `module.` before they are loaded in line {event.spot.line}."
    return ""


def _optimizer(job: Job) -> str:
    """The optimizer's state is loaded from the key that it is saved under."""
    loads = _loads(job)
    if not loads or any(is_optimizer(e.value.receiver) for e in loads):
        return ""
    keys = {key for e in job.training.trace.named("torch.save") for key in _saved(e.value)}
    for event in loads:
        node = event.spot.node
        argument = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if (
            not isinstance(argument, ast.Subscript)
            or not isinstance(argument.value, ast.Name)
            or len(keys) != 1
        ):
            continue
        name = _name(job, event)
        if name is None:
            raise Uncertain("Load the optimizer's state here, too.", event.spot)
        key = next(iter(keys))
        line = f'{name}.load_state_dict({argument.value.id}["{key}"])'
        job.draft.after(job.statement_of(event.spot.node), line)
        return f"{line} after line {event.spot.line}."
    return ""


def _saved(call: Made) -> list[str]:
    """The keys under which states of optimizers are saved."""
    keys = []
    for table in options(call.args[0] if call.args else None):
        for key, value in table.items.items() if isinstance(table, DictValue) else ():
            if isinstance(key, str) and any(_state_of_optimizer(option) for option in options(value)):
                keys.append(key)
    return keys


def _state_of_optimizer(value: Value) -> bool:
    return isinstance(value, Made) and value.name == "state_dict" and is_optimizer(value.receiver)


def _name(job: Job, event: CallEvent) -> str | None:
    """The optimizer's name where the weights are loaded, if it is made before and in the same block."""
    optimizers = job.optimizers()
    spot = optimizers[0].spot if len(optimizers) == 1 else None
    if spot is None or spot.source is not event.spot.source:
        return None
    target = job.bound_name(spot.node)
    same = job.function_of(spot.node) is job.function_of(event.spot.node)
    return target.id if isinstance(target, ast.Name) and same and spot.line < event.spot.line else None


EDITS = {"restore_state": (restore,)}
