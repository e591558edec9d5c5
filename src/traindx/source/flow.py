"""Which layers a loss reaches, and where its way back to them is cut."""

from __future__ import annotations

from dataclasses import dataclass, field

from traindx.source.roles import is_module
from traindx.source.values import Instance, Made, Spot, Value, parents

_CUTS = frozenset(
    """
    detach item numpy tolist argmax argsort argmin round sign floor ceil bool int long heaviside
    multinomial bernoulli one_hot
    """.split()
)
_CUTTING_CALLS = frozenset(
    """
    torch.tensor torch.from_numpy torch.argmax torch.argsort torch.round torch.sign torch.bernoulli float int
    torch.multinomial torch.nn.functional.one_hot torch.floor torch.ceil torch.autograd.Variable
    torch.FloatTensor torch.Tensor torch.LongTensor
    """.split()
)
_COMPARISONS = frozenset("Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn Not".split())
_PLAIN = frozenset(
    """
    ReLU ReLU6 LeakyReLU ELU SELU GELU SiLU Mish Softplus Sigmoid Tanh Softmax LogSoftmax Dropout Dropout1d
    Dropout2d Dropout3d Flatten Unflatten MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AdaptiveAvgPool1d
    AdaptiveAvgPool2d AdaptiveMaxPool2d Identity Upsample Hardswish Hardtanh Hardsigmoid Softmax2d
    """.split()
)


@dataclass(eq=False)
class Reach:
    """Layers with parameters that gradients of a value reach, and those behind a cut, with the cut."""

    alive: list[Value] = field(default_factory=list)
    cut: list[tuple[Value, Made]] = field(default_factory=list)


def reach(value: Value) -> Reach:
    """Follow a value back to every layer it was made by."""
    result = Reach()
    waiting: list[tuple[Value, Made | None]] = [(value, None)]
    visited: set[tuple[int, int]] = set()
    while waiting:
        at, by = waiting.pop()
        if (id(at), id(by)) in visited or len(visited) > 20_000:
            continue
        visited.add((id(at), id(by)))
        by = by or (at if isinstance(at, Made) and cuts(at) else None)
        layer = parametric(at)
        if layer is not None and by is None:
            result.alive.append(layer)
        elif layer is not None and by is not None:
            result.cut.append((layer, by))
        waiting += [(source, by) for source in _sources(at)]
    return result


def _sources(value: Value) -> list[Value]:
    """What a tensor was computed from: not the layer itself, nor indices."""
    if isinstance(value, Made) and value.kind == "apply":
        return [*value.args, *value.keywords.values()]
    if isinstance(value, Made) and value.kind == "item":
        return [value.receiver] if value.receiver is not None else []
    if isinstance(value, Made) and value.kind == "method" and is_module(value.receiver):
        return [*value.args, *value.keywords.values()]
    return [] if isinstance(value, Instance) else parents(value)


def cuts(value: Made) -> bool:
    """Whether no gradient passes through a call or access."""
    if not value.graded:
        return True
    if value.kind == "method":
        return value.name in _CUTS
    if value.kind == "attribute":
        return value.name == "data"
    if value.kind == "call":
        return value.name in _CUTTING_CALLS or value.name.startswith("numpy.")
    return value.kind == "operator" and value.name in _COMPARISONS


def parametric(value: Value) -> Value | None:
    """The layer with parameters that made a tensor; the parameter itself, if it is one."""
    if not isinstance(value, Made):
        return None
    if value.kind == "call" and value.name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return value
    layer = value.receiver
    if value.kind == "apply" and isinstance(layer, Made) and layer.kind == "call" and is_module(layer):
        return None if layer.short in _PLAIN or layer.short.endswith("Loss") else layer
    return None


def owner(layer: Value, modules: list[Instance]) -> tuple[Instance, str] | None:
    """The object that holds a layer, and the attribute it is under."""
    for module in modules:
        for name, value in module.attributes.items():
            if value is layer or any(part is layer for part in parts(value)):
                return module, name
    return None


def parts(value: Value, depth: int = 6) -> list[Value]:
    """The layers inside a layer: of a Sequential, a ModuleList, an object of the script."""
    layers: list[Value] = []
    if depth == 0:
        return layers
    inner: list[Value] = []
    if isinstance(value, Instance):
        inner = list(value.attributes.values())
    elif (isinstance(value, Made) and value.kind == "call") or not isinstance(value, Made):
        inner = parents(value)
    for layer in inner:
        if layer is not value:
            layers.append(layer)
            layers += parts(layer, depth - 1)
        if len(layers) > 3_000:
            break
    return layers


def activation_spot(value: Made) -> Spot | None:
    """Where an activation is written: the layer's construction, else the call."""
    layer = value.receiver
    if value.kind == "apply" and isinstance(layer, Made) and layer.spot is not None:
        return layer.spot
    return value.spot
