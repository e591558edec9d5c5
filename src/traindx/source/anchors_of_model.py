"""Lines of the model: its layers, activations, initialisation."""

from __future__ import annotations

import ast
from collections.abc import Callable

from traindx.source.anchors_of_loop import main_iteration, optimizers, origin
from traindx.source.execution import CallEvent
from traindx.source.flow import activation_spot, cuts, parametric
from traindx.source.roles import is_module, operation
from traindx.source.training import Training, sources
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
    spots = (e.spot for e in training.trace.calls if is_module(e.value))
    return next(spots, None)


def _widths(training: Training) -> list[tuple[float, Value]]:
    """The widths of hidden layers, with where they are written."""
    layers = [
        e.value
        for e in training.trace.calls
        if e.value.short in _WIDE and e.value.name.startswith(("torch.nn.", "keras."))
    ]
    keras = [one for one in layers if one.name.startswith("keras.")]
    values = [one.argument(0, "units") for one in keras[:-1]]
    torch = [one for one in layers if not one.name.startswith("keras.")]
    values += [
        one.argument(1, "out_features", "out_channels", "hidden_size")
        for one in torch[: max(1, len(torch) - 1)]
    ]
    known = [(number(one), one) for value in values for one in options(value)]
    return [(width, one) for width, one in known if width is not None]


def narrowest(training: Training) -> Spot | None:
    widths = _widths(training)
    return origin(min(widths, key=lambda pair: pair[0])[1]) if widths else model(training)


def widest(training: Training) -> Spot | None:
    widths = _widths(training)
    return origin(max(widths, key=lambda pair: pair[0])[1]) if widths else model(training)


def _outputs(training: Training) -> list[Value]:
    """What the losses of the training loop are given."""
    iteration = main_iteration(training)
    inner = [x for x in training.losses if iteration is None or iteration.loop in x.event.loops]
    return [x.given for x in inner if not x.event.grad_off]


def _back(value: Value, wanted: Callable[[Made], bool]) -> Made | None:
    """The nearest value behind another that is as wanted."""
    return next((at for at in upstream([value], _inputs) if isinstance(at, Made) and wanted(at)), None)


def _inputs(value: Value) -> list[Value]:
    if isinstance(value, Made) and value.kind == "apply":
        return value.args
    return [] if isinstance(value, Instance) else parents(value)


def output_layer(training: Training) -> Spot | None:
    """The last layer with parameters before the loss."""
    for output in _outputs(training):
        call = _back(output, lambda one: parametric(one) is not None)
        layer = parametric(call) if call is not None else None
        if layer is not None:
            return layer.spot
    layers = [e for e in training.trace.calls if e.value.short in ("Linear", "Dense")]
    return layers[-1].spot if layers else None


def output_activation(training: Training) -> Spot | None:
    """The activation between the last layer and the loss."""
    for output in _outputs(training):
        call = _back(output, lambda one: parametric(one) is not None or operation(one) in _ENDS)
        if call is not None and operation(call) in _ENDS:
            return activation_spot(call)
    return _bound_by_hand(training) if not _outputs(training) else None


def _bound_by_hand(training: Training) -> Spot | None:
    """The activation before a loss that is written by hand."""
    loop = main_iteration(training)
    for value in options(loop.backwards[0].value.receiver) if loop is not None else ():
        call = _back(value, lambda one: parametric(one) is not None or operation(one) in _BOUNDS)
        if call is not None and operation(call) in _BOUNDS:
            return activation_spot(call)
    return None


_BOUNDS = frozenset("softmax sigmoid tanh relu softplus".split())
_ENDS = frozenset("softmax sigmoid tanh relu log_softmax softplus clamp exp".split())


def _operation(training: Training, names: frozenset[str]) -> Spot | None:
    """The first operation of these in the training loop."""
    iteration = main_iteration(training)
    for event in training.trace.events:
        if operation(event.value) in names and (iteration is None or iteration.loop in event.loops):
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
    by_hand = [e for e in training.trace.methods(*_INITS) if _is_weight(e) and not _in_training(training, e)]
    if by_hand:
        return by_hand[0].spot
    bound = (b.spot for b in training.trace.bindings if b.name in ("weight", "data") and b.owner is not None)
    parameters = (e.spot for e in training.trace.events if e.value.name == "torch.nn.Parameter")
    return next(bound, None) or next(parameters, None)


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


def _in_training(training: Training, event: CallEvent) -> bool:
    iteration = main_iteration(training)
    return iteration is not None and iteration.loop in event.loops


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
    spots = (e.spot for e in training.trace.calls if e.value.short.startswith(kinds))
    return next(spots, None)


def freeze(training: Training) -> Spot | None:
    """What keeps parameters from learning: frozen, detached."""
    for event in training.trace.methods("requires_grad_"):
        if event.value.args:
            return event.spot
    bound = (b.spot for b in training.trace.bindings if b.name in ("requires_grad", "trainable"))
    iteration = main_iteration(training)
    detached = (
        e.spot
        for e in training.trace.methods("detach")
        if cuts(e.value) and iteration and iteration.loop in e.loops
    )
    return next(bound, None) or next(detached, None)


def math(training: Training) -> Spot | None:
    """A logarithm, root, division or the like in the loop, written by hand."""
    iteration = main_iteration(training)
    for event in training.trace.events:
        inner = iteration is not None and iteration.loop in event.loops and not event.grad_off
        if inner and operation(event.value) in _UNSTABLE and event.value.name != "norm":
            return event.spot
    return None


def repeated(training: Training) -> Spot | None:
    """Layers that are made over and over: the trunk of a deep stack."""
    calls = [e for e in training.trace.calls if e.loops and e.root is None]
    layered = [e for e in calls if is_module(e.value) or is_module(e.value.receiver)]
    if layered:
        return min(layered, key=lambda event: len(event.functions)).spot
    for event in training.trace.events:
        if event.value.name == "torch.nn.Sequential" and isinstance(event.spot.node, ast.Call):
            return event.spot
    return model(training)
