"""Hidden activations: replaced, or added where one is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import uses_keras
from traindx.experiment.edit.layers import add_layer
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_sources import anything, behind, inputs_of
from traindx.source.flow import activation_spot, parametric
from traindx.source.keras import compiled, models
from traindx.source.roles import operation
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
    old = _harmful([operation(site) for site in sites], to)
    return sentence([_swapped(job, site, to) for site in sites if operation(site) in old])


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
    last = {id(model.last) for model in compiled(job.training.trace)}
    sites = {id(spot.node): (spot, name) for spot, name in _keras_sites(job, last)}
    old = _harmful([name for _, name in sites.values()], to)
    descriptions = []
    for spot, name in sites.values():
        if name in old:
            job.draft.replace(spot.node, f'"{to}"')
            descriptions.append(f"{name} -> {to} in line {spot.line}")
    return sentence(descriptions)


def _keras_sites(job: Job, last: set[int]) -> Iterator[tuple[Spot, str]]:
    """Where hidden layers name their activation."""
    for layers in models(job.training.trace):
        for layer in layers:
            argument = layer.argument(0 if layer.short == "Activation" else -1, "activation")
            if layer.short == "Dense" and argument is None:
                argument = layer.argument(1)
            ends = id(layer) in last or (layer is layers[-1])
            name = (
                argument.value
                if isinstance(argument, Const)
                else getattr(argument, "name", "").rpartition(".")[2]
            )
            if argument is not None and argument.spot is not None and not ends and isinstance(name, str):
                yield argument.spot, name


def hidden_activations(job: Job) -> list[Made]:
    """The activations of the training's forward pass: not the model's output, not the gates of a cell."""
    last = _last_ones(job)
    gates = _factors(job)
    loops = [iteration.loop for iteration in job.iterations()]
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
    roots += [option for event in job.training.backwards for option in options(event.value.receiver)]
    values = behind(roots, lambda value: inputs_of(value) if parametric(value) is None else [])
    last = [value for value in values if isinstance(value, Made) and operation(value) in _LAYERS]
    return {id(spot.node) for activation in last if (spot := activation_spot(activation)) is not None}


def _factors(job: Job) -> set[int]:
    """Values that are multiplied with others: the gates of hand-written cells."""
    factors: set[int] = set()
    for value in behind(anything(job.training.trace)):
        if isinstance(value, Made) and value.kind == "operator" and value.name == "Mult":
            tensors = [argument for argument in value.args if number(argument) is None]
            factors |= {id(tensor) for tensor in tensors} if len(tensors) > 1 else set()
    return factors


def _swapped(job: Job, activation: Made, to: str) -> str:
    spot = activation_spot(activation)
    assert spot is not None
    node, old = spot.node, operation(activation)
    if isinstance(node, ast.Call) and activation.kind == "apply":
        return _layer(job, node, old, to)
    if (
        isinstance(node, ast.Call)
        and activation.kind == "method"
        and (owner := receiver(node))
        and not node.args
    ):
        inner = job.draft.text(owner)
        new = f"{inner}.{to}()" if to in _IN_TORCH else f"{_function(job, node, to)}({inner})"
        job.draft.replace(node, new)
    elif (
        isinstance(node, ast.Call) and activation.kind == "call" and len(node.args) == 1 and not node.keywords
    ):
        job.draft.replace(node.func, _function(job, node, to))
    else:
        raise Uncertain(f"Use {to} instead of {old} here.", spot)
    return f"{old} -> {to} in line {spot.line}"


def _function(job: Job, near: ast.AST, to: str) -> str:
    return job.spelled(near, f"torch.{to}" if to in _IN_TORCH else f"torch.nn.functional.{to}")


def _layer(job: Job, node: ast.Call, old: str, to: str) -> str:
    """A layer: its class where it is called by name, else where the class is passed."""
    if node.args or any(keyword.arg != "inplace" for keyword in node.keywords):
        raise Uncertain(f"Use {_LAYERS[to]} instead of {old} here.", node)
    class_text = job.draft.text(node.func)
    if class_text.rpartition(".")[2] in _NAMES:
        job.draft.replace(node.func, _class(job, node, class_text, to))
        return f"{class_text} -> {_LAYERS[to]} in line {node.lineno}"
    references = list(_references(job, old))
    if len(references) != 1:
        raise Uncertain(f"Pass {_LAYERS[to]} where this layer is made.", node)
    text = job.draft.text(references[0])
    job.draft.replace(references[0], _class(job, references[0], text, to))
    return f"{text} -> {_LAYERS[to]} in line {references[0].lineno}"


def _class(job: Job, near: ast.AST, class_text: str, to: str) -> str:
    front, dot, _ = class_text.rpartition(".")
    return f"{front}.{_LAYERS[to]}" if dot else job.spelled(near, f"torch.nn.{_LAYERS[to]}")


def _references(job: Job, old: str) -> Iterator[ast.Attribute | ast.Name]:
    """Where the class of an activation is named without being called."""
    for source in job.script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute | ast.Name) and last_name(node) == _LAYERS.get(old):
                around = job.parent(node)
                if not (isinstance(around, ast.Call) and around.func is node):
                    yield node


def add_between(job: Job) -> str:
    """ReLU after each linear layer that is followed by another with nothing between."""
    return sentence(
        [_wrapped(job, layer_call) for layer_call in _bare(job)],
        "No two linear layers in a row was found in the script.",
    )


def _bare(job: Job) -> list[Made]:
    """Calls of linear layers whose output goes into the next one as it is."""
    from traindx.evidence.detectors.model.script_stack import _ACTIVATIONS, _chain, _linear

    layers: dict[int, Made] = {}
    for loss in job.training.losses:
        if loss.event.grad_off or not loss.event.loops:
            continue
        chain = _chain(loss.given) or []
        later = False
        for value in chain:
            if _linear(value):
                if later and value.spot is not None:
                    layers.setdefault(id(value.receiver), value)
                later = True
            elif operation(value) in _ACTIVATIONS:
                later = False
    return list(layers.values())


def _wrapped(job: Job, applied: Made) -> str:
    layer = applied.receiver
    spot = layer.spot if isinstance(layer, Made) else None
    around = job.parent(spot.node) if spot is not None else None
    if spot is not None and isinstance(spot.node, ast.Call) and last_name(around) == "Sequential":
        return add_layer(job, spot.node, f"{job.spelled(spot.node, 'torch.nn.ReLU')}()")
    call = call_of(applied)
    function = job.spelled(call, "torch.relu")
    job.draft.wrap(call, f"{function}(", ")")
    return f"{function} around line {call.lineno}"
