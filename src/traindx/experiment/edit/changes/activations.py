"""Hidden activations: another in their place, one that is missing put in; dropout."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.calls import inserted
from traindx.experiment.edit.changes import Maker, value_of
from traindx.experiment.edit.job import Job, at
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.new_number import Wanted
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_origin import change
from traindx.source.execution import Event
from traindx.source.flow import activation_spot, parametric
from traindx.source.roles import operation
from traindx.source.script import Source
from traindx.source.values import Made, Spot, Value, number, options, parents

_LAYERS = {
    "relu": "ReLU",
    "leaky_relu": "LeakyReLU",
    "gelu": "GELU",
    "silu": "SiLU",
    "elu": "ELU",
    "tanh": "Tanh",
    "sigmoid": "Sigmoid",
    "selu": "SELU",
}
_NAMES = {layer: name for name, layer in _LAYERS.items()}
_IN_TORCH = {"relu", "sigmoid", "tanh"}


def swap_activation(job: Job, values: Mapping[str, Scalar]) -> str:
    """Every hidden activation of the kind that does harm becomes another."""
    to = str(values.get("to", "relu"))
    if to not in _LAYERS:
        raise ValueError(f"no such activation: {to!r}")
    sites = _sites(job)
    saturating = [one for one in sites if operation(one) in ("sigmoid", "tanh", "hardtanh")]
    rectified = [one for one in sites if operation(one) == "relu"]
    there = any(operation(one) == to for one in sites)
    chosen = saturating if to == "relu" or not (rectified or there) else rectified
    if to in ("sigmoid", "tanh"):
        chosen = rectified
    chosen = [one for one in chosen if operation(one) != to]
    if not chosen:
        raise Uncertain(f"No hidden activation that could be {to} can be told in the script.")
    told = [_swapped(job, one, to) for one in chosen]
    return "; ".join(dict.fromkeys(told)) + "."


def _sites(job: Job) -> list[Made]:
    """The activations of the training's forward pass: not the model's output, not the gates of a cell."""
    last = _last_ones(job)
    gates = _factors(job)
    loops = [one.loop for one in job.iterations()]
    found: dict[int, Made] = {}
    for event in job.training.trace.events:
        if operation(event.value) not in _LAYERS or not any(loop in event.loops for loop in loops):
            continue
        spot = activation_spot(event.value)
        if spot is not None and id(spot.node) not in last and id(event.value) not in gates:
            found.setdefault(id(spot.node), event.value)
    return list(found.values())


def _last_ones(job: Job) -> set[int]:
    """Activations between the last layer with parameters and the loss, by their nodes."""
    waiting: list[Value] = [x.given for x in job.training.losses]
    for event in job.training.backwards:
        waiting += options(event.value.receiver)
    seen: set[int] = set()
    found: set[int] = set()
    while waiting and len(seen) < 5_000:
        value = waiting.pop()
        if id(value) in seen or parametric(value) is not None:
            continue
        seen.add(id(value))
        spot = activation_spot(value) if isinstance(value, Made) and operation(value) in _LAYERS else None
        if spot is not None:
            found.add(id(spot.node))
        waiting += [*value.args] if isinstance(value, Made) and value.kind == "apply" else parents(value)
    return found


def _factors(job: Job) -> set[int]:
    """Values that are multiplied with others: the gates of hand-written cells."""
    waiting: list[Value] = [e.value for e in job.training.trace.events]
    waiting += [b.value for b in job.training.trace.bindings]
    seen: set[int] = set()
    found: set[int] = set()
    while waiting and len(seen) < 50_000:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Made) and value.kind == "operator" and value.name == "Mult":
            tensors = [one for one in value.args if number(one) is None]
            found |= {id(one) for one in tensors} if len(tensors) > 1 else set()
        waiting += parents(value)
    return found


def _swapped(job: Job, made: Made, to: str) -> str:
    spot = activation_spot(made)
    assert spot is not None
    source, node, old = spot.source, spot.node, operation(made)
    if not isinstance(node, ast.Call):
        raise Uncertain(f"Use {to} instead of {old} here.", at(spot))
    if made.kind == "apply":
        return _layer(job, source, node, old, to)
    if made.kind == "method" and isinstance(node.func, ast.Attribute) and not node.args:
        inner = job.draft.text(source, node.func.value)
        new = f"{inner}.{to}()" if to in _IN_TORCH else f"{_function(job, source, to)}({inner})"
        job.draft.replace(source, node, new)
    elif made.kind == "call" and len(node.args) == 1 and not node.keywords:
        job.draft.replace(source, node.func, _function(job, source, to))
    else:
        raise Uncertain(f"Use {to} instead of {old} here.", at(spot))
    return f"{old} -> {to} in line {spot.line}"


def _function(job: Job, source: Source, to: str) -> str:
    return spelled(job.draft, source, f"torch.{to}" if to in _IN_TORCH else f"torch.nn.functional.{to}")


def _layer(job: Job, source: Source, node: ast.Call, old: str, to: str) -> str:
    """A layer: its class where it is called by name, else where the class was handed over."""
    spot = Spot(source, node)
    if node.args or any(one.arg != "inplace" for one in node.keywords):
        raise Uncertain(f"Use {_LAYERS[to]} instead of {old} here.", at(spot))
    written = job.draft.text(source, node.func)
    if written.rpartition(".")[2] in _NAMES:
        job.draft.replace(source, node.func, _class(job, source, written, to))
        return f"{written} -> {_LAYERS[to]} in line {node.lineno}"
    found = list(_handed(job, old))
    if len(found) != 1:
        raise Uncertain(f"Hand {_LAYERS[to]} over where this layer is made.", at(spot))
    there, reference = found[0]
    text = job.draft.text(there, reference)
    job.draft.replace(there, reference, _class(job, there, text, to))
    return f"{text} -> {_LAYERS[to]} in line {reference.lineno}"


def _class(job: Job, source: Source, written: str, to: str) -> str:
    front, dot, _ = written.rpartition(".")
    return f"{front}.{_LAYERS[to]}" if dot else spelled(job.draft, source, f"torch.nn.{_LAYERS[to]}")


def _handed(job: Job, old: str) -> Iterator[tuple[Source, ast.Attribute | ast.Name]]:
    """Where the class of an activation is named without being called."""
    for source in job.script.sources:
        for node in ast.walk(source.tree):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if name != _LAYERS.get(old) or not isinstance(node, ast.Attribute | ast.Name):
                continue
            around = source.parents.get(node)
            if not (isinstance(around, ast.Call) and around.func is node):
                yield source, node


def set_dropout(job: Job, values: Mapping[str, Scalar]) -> str:
    value = value_of(values, "value")
    events: dict[int, Event] = {}
    for event in job.training.trace.events:
        if event.value.kind == "call" and event.value.short.lower().startswith(("dropout", "alphadropout")):
            events.setdefault(id(event.spot.node), event)
    if not events:
        raise Uncertain("The script has no dropout whose share could be set.")
    told = []
    for event in events.values():
        functional = event.value.short.islower()
        wanted = Wanted(value=value)
        told.append(change(job, event.value, "p", 1 if functional else 0, wanted, r"drop", 0.5))
    return "; ".join(dict.fromkeys(told)) + "."


def add_between(job: Job) -> str:
    """ReLU after each linear layer that is followed by another with nothing between."""
    told = []
    for made in _bare(job):
        told.append(_wrapped(job, made))
    if not told:
        raise Uncertain("No two linear layers in a row can be told in the script.")
    return "; ".join(dict.fromkeys(told)) + "."


def _bare(job: Job) -> list[Made]:
    """Calls of linear layers whose output goes into the next one as it is."""
    from traindx.evidence.detectors.model.script_nonlinearity_missing import _ACTIVATIONS, _chain, _linear

    found: dict[int, Made] = {}
    for loss in job.training.losses:
        if loss.event.grad_off or not loss.event.loops:
            continue
        chain = _chain(loss.given) or []
        later = False
        for one in chain:
            if _linear(one):
                if later and one.spot is not None:
                    found.setdefault(id(one.receiver), one)
                later = True
            elif operation(one) in _ACTIVATIONS:
                later = False
    return list(found.values())


def _wrapped(job: Job, made: Made) -> str:
    layer = made.receiver
    spot = layer.spot if isinstance(layer, Made) else None
    around = spot.source.parents.get(spot.node) if spot is not None else None
    if spot is not None and isinstance(around, ast.Call) and spot.node in around.args:
        index = around.args.index(spot.node) + 1
        name = spelled(job.draft, spot.source, "torch.nn.ReLU")
        new = inserted(job.draft.text(spot.source, around), index, f"{name}()")
        if new is None:
            raise Uncertain("Put a ReLU after this layer.", at(spot))
        job.draft.rewrite(spot.source, around, new)
        return f"{name}() after line {spot.line}"
    called = made.spot
    if called is None or not isinstance(called.node, ast.Call):
        raise Uncertain("Put a ReLU after this layer.", at(spot))
    function = spelled(job.draft, called.source, "torch.relu")
    text = job.draft.text(called.source, called.node)
    job.draft.replace(called.source, called.node, f"{function}({text})")
    return f"{function} around line {called.line}"


MAKERS: dict[str, Maker] = {"swap_activation": swap_activation, "set_dropout": set_dropout}
