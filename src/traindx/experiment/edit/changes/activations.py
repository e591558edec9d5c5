"""Hidden activations: replaced, or added where one is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job, at, call_of, called, receiver
from traindx.experiment.edit.keras import uses_keras
from traindx.experiment.edit.layers import add_layer
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_sources import anything, behind, inputs_of
from traindx.source.flow import activation_spot, parametric
from traindx.source.keras import compiled, models
from traindx.source.roles import operation
from traindx.source.script import Source
from traindx.source.values import Const, Made, Spot, Value, number, options

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
    if uses_keras(job):
        return _in_keras(job, to)
    sites = hidden_activations(job)
    old = _harmful([operation(one) for one in sites], to)
    return sentence([_swapped(job, one, to) for one in sites if operation(one) in old])


def _harmful(present: list[str], to: str) -> set[str]:
    """Which of the activations there are should become another; raises Uncertain when none is."""
    saturating = {"sigmoid", "tanh", "hardtanh"}
    rectified = "relu" in present
    old = saturating if to == "relu" or not (rectified or to in present) else {"relu"}
    if to in ("sigmoid", "tanh"):
        old = {"relu"}
    if not set(present) & (old - {to}):
        raise Uncertain(f"No hidden activation that could be {to} was found in the script.")
    return old - {to}


def _in_keras(job: Job, to: str) -> str:
    """The argument `activation` of hidden layers, and layers that are nothing but an activation."""
    last = {id(one.last) for one in compiled(job.training.trace)}
    sites = {id(spot.node): (spot, name) for spot, name in _keras_sites(job, last)}
    old = _harmful([name for _, name in sites.values()], to)
    descriptions = []
    for spot, name in sites.values():
        if name in old:
            job.draft.replace(spot.source, spot.node, f'"{to}"')
            descriptions.append(f"{name} -> {to} in line {spot.line}")
    return sentence(descriptions)


def _keras_sites(job: Job, last: set[int]) -> Iterator[tuple[Spot, str]]:
    """Where hidden layers name their activation."""
    for layers in models(job.training.trace):
        for layer in layers:
            given = layer.argument(0 if layer.short == "Activation" else -1, "activation")
            if layer.short == "Dense" and given is None:
                given = layer.argument(1)
            ends = id(layer) in last or (layer is layers[-1])
            name = given.value if isinstance(given, Const) else getattr(given, "name", "").rpartition(".")[2]
            if given is not None and given.spot is not None and not ends and isinstance(name, str):
                yield given.spot, name


def hidden_activations(job: Job) -> list[Made]:
    """The activations of the training's forward pass: not the model's output, not the gates of a cell."""
    last = _last_ones(job)
    gates = _factors(job)
    loops = [one.loop for one in job.iterations()]
    sites: dict[int, Made] = {}
    for event in job.training.trace.events:
        if operation(event.value) not in _LAYERS or not any(loop in event.loops for loop in loops):
            continue
        spot = activation_spot(event.value)
        if spot is not None and id(spot.node) not in last and id(event.value) not in gates:
            sites.setdefault(id(spot.node), event.value)
    return list(sites.values())


def _last_ones(job: Job) -> set[int]:
    """Activations between the last layer with parameters and the loss, by their nodes."""
    roots: list[Value] = [x.given for x in job.training.losses]
    roots += [one for event in job.training.backwards for one in options(event.value.receiver)]
    values = behind(roots, lambda value: inputs_of(value) if parametric(value) is None else [])
    last = [one for one in values if isinstance(one, Made) and operation(one) in _LAYERS]
    return {id(spot.node) for one in last if (spot := activation_spot(one)) is not None}


def _factors(job: Job) -> set[int]:
    """Values that are multiplied with others: the gates of hand-written cells."""
    factors: set[int] = set()
    for value in behind(anything(job.training.trace)):
        if isinstance(value, Made) and value.kind == "operator" and value.name == "Mult":
            tensors = [one for one in value.args if number(one) is None]
            factors |= {id(one) for one in tensors} if len(tensors) > 1 else set()
    return factors


def _swapped(job: Job, activation: Made, to: str) -> str:
    spot = activation_spot(activation)
    assert spot is not None
    source, node, old = spot.source, spot.node, operation(activation)
    if isinstance(node, ast.Call) and activation.kind == "apply":
        return _layer(job, source, node, old, to)
    if (
        isinstance(node, ast.Call)
        and activation.kind == "method"
        and (owner := receiver(node))
        and not node.args
    ):
        inner = job.draft.text(source, owner)
        new = f"{inner}.{to}()" if to in _IN_TORCH else f"{_function(job, source, to)}({inner})"
        job.draft.replace(source, node, new)
    elif (
        isinstance(node, ast.Call) and activation.kind == "call" and len(node.args) == 1 and not node.keywords
    ):
        job.draft.replace(source, node.func, _function(job, source, to))
    else:
        raise Uncertain(f"Use {to} instead of {old} here.", at(spot))
    return f"{old} -> {to} in line {spot.line}"


def _function(job: Job, source: Source, to: str) -> str:
    return spelled(job.draft, source, f"torch.{to}" if to in _IN_TORCH else f"torch.nn.functional.{to}")


def _layer(job: Job, source: Source, node: ast.Call, old: str, to: str) -> str:
    """A layer: its class where it is called by name, else where the class is passed."""
    spot = Spot(source, node)
    if node.args or any(one.arg != "inplace" for one in node.keywords):
        raise Uncertain(f"Use {_LAYERS[to]} instead of {old} here.", at(spot))
    written = job.draft.text(source, node.func)
    if written.rpartition(".")[2] in _NAMES:
        job.draft.replace(source, node.func, _class(job, source, written, to))
        return f"{written} -> {_LAYERS[to]} in line {node.lineno}"
    references = list(_references(job, old))
    if len(references) != 1:
        raise Uncertain(f"Pass {_LAYERS[to]} where this layer is made.", at(spot))
    file, reference = references[0]
    text = job.draft.text(file, reference)
    job.draft.replace(file, reference, _class(job, file, text, to))
    return f"{text} -> {_LAYERS[to]} in line {reference.lineno}"


def _class(job: Job, source: Source, written: str, to: str) -> str:
    front, dot, _ = written.rpartition(".")
    return f"{front}.{_LAYERS[to]}" if dot else spelled(job.draft, source, f"torch.nn.{_LAYERS[to]}")


def _references(job: Job, old: str) -> Iterator[tuple[Source, ast.Attribute | ast.Name]]:
    """Where the class of an activation is named without being called."""
    for source in job.script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute | ast.Name) and called(node) == _LAYERS.get(old):
                around = source.parents.get(node)
                if not (isinstance(around, ast.Call) and around.func is node):
                    yield source, node


def add_between(job: Job) -> str:
    """ReLU after each linear layer that is followed by another with nothing between."""
    descriptions = [_wrapped(job, made) for made in _bare(job)]
    if not descriptions:
        raise Uncertain("No two linear layers in a row was found in the script.")
    return sentence(descriptions)


def _bare(job: Job) -> list[Made]:
    """Calls of linear layers whose output goes into the next one as it is."""
    from traindx.evidence.detectors.model.script_nonlinearity_missing import _ACTIVATIONS, _chain, _linear

    layers: dict[int, Made] = {}
    for loss in job.training.losses:
        if loss.event.grad_off or not loss.event.loops:
            continue
        chain = _chain(loss.given) or []
        later = False
        for one in chain:
            if _linear(one):
                if later and one.spot is not None:
                    layers.setdefault(id(one.receiver), one)
                later = True
            elif operation(one) in _ACTIVATIONS:
                later = False
    return list(layers.values())


def _wrapped(job: Job, applied: Made) -> str:
    layer = applied.receiver
    spot = layer.spot if isinstance(layer, Made) else None
    around = spot.source.parents.get(spot.node) if spot is not None else None
    if spot is not None and isinstance(spot.node, ast.Call) and called(around) == "Sequential":
        return add_layer(job, spot.source, spot.node, f"{spelled(job.draft, spot.source, 'torch.nn.ReLU')}()")
    source, call = call_of(applied)
    function = spelled(job.draft, source, "torch.relu")
    job.draft.replace(source, call, f"{function}({job.draft.text(source, call)})")
    return f"{function} around line {call.lineno}"


EDITS = (swap_activation,)
