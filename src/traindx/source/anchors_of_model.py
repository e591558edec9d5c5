"""Lines of the model: its layers, activations, initialisation."""

from __future__ import annotations

import ast
from collections.abc import Callable

from traindx.source.anchors_of_loop import first, optimizers, origin
from traindx.source.execution import CallEvent
from traindx.source.flow import activation_spot, cuts, parametric
from traindx.source.optimizer_sources import sources
from traindx.source.roles import is_module, operation
from traindx.source.training import Training
from traindx.source.values import Instance, Made, Spot, Value, number, options, parents, upstream

_WIDE = ("Linear", "Conv1d", "Conv2d", "Conv3d", "LSTM", "GRU", "RNN", "Embedding", "Dense")
_ACTIVATIONS = frozenset("relu sigmoid tanh leaky_relu gelu silu elu selu softplus hardtanh".split())
_INITS = frozenset("fill_ zero_ normal_ uniform_ mul_ copy_".split())
_UNSTABLE = frozenset("log sqrt exp div pow rsqrt reciprocal acos asin log2 log10 norm".split())


def model(training: Training) -> Spot | None:
    """Where the model is made that the optimizer holds."""
    for optimizer_call in optimizers(training):
        for module in sources(optimizer_call):
            if module.spot is not None:
                return module.spot
    return first(e for e in training.trace.calls if is_module(e.value))


def _widths(training: Training) -> list[tuple[float, Value]]:
    """The widths of hidden layers, with where they are written."""
    layers = [
        e.value
        for e in training.trace.calls
        if e.value.short in _WIDE and e.value.name.startswith(("torch.nn.", "keras."))
    ]
    keras = [layer for layer in layers if layer.name.startswith("keras.")]
    values = [layer.argument(0, "units") for layer in keras[:-1]]
    torch = [layer for layer in layers if not layer.name.startswith("keras.")]
    values += [
        layer.argument(1, "out_features", "out_channels", "hidden_size")
        for layer in torch[: max(1, len(torch) - 1)]
    ]
    widths = [(number(option), option) for value in values for option in options(value)]
    return [(width, value) for width, value in widths if width is not None]


def narrowest(training: Training) -> Spot | None:
    widths = _widths(training)
    return origin(min(widths, key=lambda pair: pair[0])[1]) if widths else model(training)


def widest(training: Training) -> Spot | None:
    widths = _widths(training)
    return origin(max(widths, key=lambda pair: pair[0])[1]) if widths else model(training)


def _outputs(training: Training) -> list[Value]:
    """What the losses of the training loop are given."""
    return [x.given for x in training.trained_losses]


def _back(value: Value, matches: Callable[[Made], bool]) -> Made | None:
    """The nearest value behind another that is as wanted."""
    return next((at for at in upstream([value], _inputs) if isinstance(at, Made) and matches(at)), None)


def _inputs(value: Value) -> list[Value]:
    if isinstance(value, Made) and value.kind == "apply":
        return value.args
    return [] if isinstance(value, Instance) else parents(value)


def output_layer(training: Training) -> Spot | None:
    """The last layer with parameters before the loss."""
    for output in _outputs(training):
        call = _back(output, lambda value: parametric(value) is not None)
        layer = parametric(call) if call is not None else None
        if layer is not None:
            return layer.spot
    layers = [e for e in training.trace.calls if e.value.short in ("Linear", "Dense")]
    return layers[-1].spot if layers else None


def output_activation(training: Training) -> Spot | None:
    """The activation between the last layer and the loss."""
    for output in _outputs(training):
        call = _back(output, lambda value: parametric(value) is not None or operation(value) in _ENDS)
        if call is not None and operation(call) in _ENDS:
            return activation_spot(call)
    return _bound_by_hand(training) if not _outputs(training) else None


def _bound_by_hand(training: Training) -> Spot | None:
    """The activation before a loss that is written by hand."""
    main = training.main
    for value in options(main.backwards[0].value.receiver) if main is not None else ():
        call = _back(value, lambda value: parametric(value) is not None or operation(value) in _BOUNDS)
        if call is not None and operation(call) in _BOUNDS:
            return activation_spot(call)
    return None


_BOUNDS = frozenset("softmax sigmoid tanh relu softplus".split())
_ENDS = frozenset("softmax sigmoid tanh relu log_softmax softplus clamp exp".split())


def _operation(training: Training, names: frozenset[str]) -> Spot | None:
    """The first operation of these in the training loop."""
    for event in training.trace.events:
        if operation(event.value) in names and (training.main is None or training.in_main_loop(event)):
            return activation_spot(event.value)
    return None


def activation(training: Training) -> Spot | None:
    return saturating(training) or _operation(training, _ACTIVATIONS)


def saturating(training: Training) -> Spot | None:
    return _operation(training, frozenset({"sigmoid", "tanh"}))


def relu(training: Training) -> Spot | None:
    return _operation(training, frozenset({"relu"}))


def init(training: Training) -> Spot | None:
    """Where weights are given their first values by hand."""
    inits = [e for e in training.trace.events if e.value.name.startswith("torch.nn.init.")]
    if inits:
        return max(inits, key=_oddness).spot
    by_hand = [e for e in training.trace.methods(*_INITS) if _is_weight(e) and not training.in_main_loop(e)]
    if by_hand:
        return by_hand[0].spot
    bound = (b for b in training.trace.bindings if b.name in ("weight", "data") and b.owner is not None)
    return first(bound) or first(training.trace.named("torch.nn.Parameter"))


def _oddness(event: CallEvent) -> int:
    """How far a first value is from what is usual: equal weights, a wide spread, a bias far from zero."""
    text = event.spot.text
    if event.value.short in ("constant_", "zeros_", "ones_"):
        value = number(event.value.argument(1, "val"))
        far = value is not None and abs(value) > 0.5
        return 4 if "weight" in text else 3 if far else 0
    if event.value.short in ("normal_", "uniform_", "trunc_normal_"):
        spread = number(event.value.argument(2, "std", "b"))
        return 3 if spread is None or not 1e-3 < spread < 0.3 else 2
    return 1


def _is_weight(event: CallEvent) -> bool:
    text = event.spot.text
    return any(word in text for word in ("weight", "bias", ".data", "param", "p."))


def dropout(training: Training) -> Spot | None:
    """The largest share that is dropped."""
    shares = []
    for event in training.trace.events:
        if event.value.short.startswith(("Dropout", "dropout", "AlphaDropout")):
            value = event.value.argument(1 if event.value.short.islower() else 0, "p", "rate")
            shares.append((number(next(iter(options(value)), None)) or 0.0, origin(value) or event.spot))
    return max(shares, key=lambda pair: pair[0])[1] if shares else None


def normalisation(training: Training) -> Spot | None:
    kinds = ("BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm", "BatchNormalization")
    return first(e for e in training.trace.calls if e.value.short.startswith(kinds))


def freeze(training: Training) -> Spot | None:
    """What keeps parameters from learning: frozen, detached."""
    frozen = (e for e in training.trace.methods("requires_grad_") if e.value.args)
    bound = (b for b in training.trace.bindings if b.name in ("requires_grad", "trainable"))
    detached = (e for e in training.trace.methods("detach") if cuts(e.value) and training.in_main_loop(e))
    return first(frozen) or first(bound) or first(detached)


def math(training: Training) -> Spot | None:
    """A logarithm, root, division or the like in the loop, written by hand."""
    inner = (e for e in training.trace.events if training.in_main_loop(e) and not e.grad_off)
    return first(e for e in inner if operation(e.value) in _UNSTABLE and e.value.name != "norm")


def repeated(training: Training) -> Spot | None:
    """Layers that are made over and over: the trunk of a deep stack."""
    calls = [e for e in training.trace.calls if e.loops and e.root is None]
    layered = [e for e in calls if is_module(e.value) or is_module(e.value.receiver)]
    if layered:
        return min(layered, key=lambda event: len(event.functions)).spot
    chains = (e for e in training.trace.named("torch.nn.Sequential") if isinstance(e.spot.node, ast.Call))
    return first(chains) or model(training)
