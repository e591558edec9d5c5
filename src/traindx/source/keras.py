"""Keras models as a script builds them: their layers, how they are compiled, and how they are fitted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from traindx.source.execution import CallEvent, Trace
from traindx.source.values import Const, Instance, ListValue, Made, Value, options

SEQUENTIAL = ("keras.Sequential", "keras.models.Sequential")
FUNCTIONAL = ("keras.Model", "keras.models.Model")
_FITS = ("fit", "fit_generator", "train_on_batch")
_LAYER = "keras.layers."
_DEEP = 200
# Layers whose output is what the loss sees, changed in shape alone.
_RESHAPING = frozenset("Flatten Reshape Permute Identity".split())
_CONVOLUTIONS = ("Conv1D", "Conv2D", "Conv3D")
_SHORT = {"mean_squared_error": "mse", "mean_absolute_error": "mae"}


@dataclass(frozen=True, eq=False)
class Compiled:
    """One call of `compile`: the activation at the end (None when not known), and the loss."""

    event: CallEvent
    last: Made | None
    activation: str | None
    units: float | None
    loss: str
    from_logits: bool | None
    model: Value | None = None
    layers: tuple[Made, ...] = ()
    fits: tuple[CallEvent, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...] | None:
        """The names of the metrics; None where one of them is not plain text."""
        metrics = self.event.value.argument(3, "metrics")
        if metrics is None or (isinstance(metrics, Const) and metrics.value is None):
            return ()
        listed = metrics.items if isinstance(metrics, ListValue) and not metrics.open else [metrics]
        names = [item.value for item in listed if isinstance(item, Const) and isinstance(item.value, str)]
        return tuple(names) if len(names) == len(listed) and not self.event.value.open else None

    @property
    def optimizer(self) -> Value | None:
        return self.event.value.argument(0, "optimizer")


def compiled(trace: Trace) -> list[Compiled]:
    """Every Keras model that is compiled with a loss."""
    models = []
    for event in trace.methods("compile"):
        loss = event.value.argument(1, "loss")
        if "optimizer" not in event.value.keywords and loss is None:
            continue
        name, logits = loss_name(loss)
        model = event.value.receiver
        layers, last = tuple(layers_of(trace, model)), _last(trace, model)
        activation, units = output(last)
        fits = tuple(e for e in trace.methods(*_FITS) if model in options(e.value.receiver))
        models.append(Compiled(event, last, activation, units, name, logits, model, layers, fits))
    return models


def callbacks_of(fit: CallEvent) -> list[Made]:
    """The callbacks of Keras that a call of `fit` gets."""
    callbacks = fit.value.argument(5, "callbacks")
    listed = callbacks.items if isinstance(callbacks, ListValue) else [callbacks]
    return [
        callback
        for callback in listed
        if isinstance(callback, Made) and callback.name.startswith("keras.callbacks.")
    ]


def validates(fit: CallEvent) -> bool:
    """Whether a call of `fit` may be given validation data."""
    split, data = fit.value.argument(6, "validation_split"), fit.value.argument(7, "validation_data")
    arguments = [argument for argument in (split, data) if argument is not None]
    return fit.value.open or any(not isinstance(argument, Const) or argument.value for argument in arguments)


def models(trace: Trace) -> Iterator[list[Made]]:
    """The layers of every Keras model of a script, in the order in which data passes through them."""
    constructed: list[Value] = [e.value for e in trace.calls if e.value.name in (*SEQUENTIAL, *FUNCTIONAL)]
    inner = {id(part) for model in constructed for part in layers_of(trace, model)}
    for model in [*constructed, *trace.instances]:
        layers = list(layers_of(trace, model))
        if layers and not any(id(layer) in inner for layer in layers if isinstance(model, Instance)):
            yield layers


def layers_of(trace: Trace, model: Value | None, deep: int = 4) -> Iterator[Made]:
    """The layers of a model, those of models inside it, too; none where they are not known."""
    for part in _parts(trace, model) if deep else ():
        if isinstance(part, Made) and is_layer(part):
            yield part
        else:
            yield from layers_of(trace, part, deep - 1)


def _parts(trace: Trace, model: Value | None) -> list[Value]:
    """What a model is made of: layers, other models, anything."""
    if isinstance(model, Instance):
        return [member for value in model.attributes.values() for member in _members(value)]
    if not isinstance(model, Made) or model.kind != "call":
        return []
    if model.name in FUNCTIONAL:
        return _behind(model.argument(1, "outputs"))
    if model.name not in SEQUENTIAL:
        return []
    layers = model.argument(0, "layers")
    added = [e.value for e in trace.methods("add") if e.value.receiver is model and e.value.args]
    return [*(layers.items if isinstance(layers, ListValue) else []), *(call.args[0] for call in added)]


def _last(trace: Trace, model: Value | None) -> Made | None:
    """The layer that makes the output; None where that is not certain."""
    parts: list[Value | None] = [*_parts(trace, model)] if isinstance(model, Made) else []
    if isinstance(model, Made) and model.name in FUNCTIONAL:
        outputs = model.argument(1, "outputs")
        parts = [outputs.receiver] if isinstance(outputs, Made) and outputs.kind == "apply" else []
    while parts and isinstance(parts[-1], Made) and parts[-1].short in _RESHAPING:
        parts = parts[:-1]
    last = parts[-1] if parts else None
    return last if isinstance(last, Made) and is_layer(last) else None


def is_layer(value: Value | None) -> bool:
    return isinstance(value, Made) and value.kind == "call" and value.name.startswith(_LAYER)


def _members(value: Value) -> list[Value]:
    return list(value.items) if isinstance(value, ListValue) else [value]


def _behind(outputs: Value | None) -> list[Value]:
    """The layers that the output of a functional model came through, the first one first."""
    layers: dict[int, Value] = {}
    waiting = [outputs]
    for _ in range(_DEEP):
        value = waiting.pop() if waiting else None
        if isinstance(value, ListValue):
            waiting += value.items
        elif isinstance(value, Made) and value.kind == "apply" and value.receiver is not None:
            layers.setdefault(id(value.receiver), value.receiver)
            waiting += value.args
        elif isinstance(value, Made) and value.kind in ("operator", "call"):
            waiting += value.args
    return list(layers.values())[::-1]


def loss_name(value: Value | None) -> tuple[str, bool | None]:
    """The name of a loss in snake case, and whether it takes logits."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return _snake(value.value), False
    if isinstance(value, Made) and value.name.startswith("keras.losses."):
        logits = value.keywords.get("from_logits")
        if logits is None:
            return _snake(value.short), False
        return _snake(value.short), logits.value is True if isinstance(logits, Const) else None
    return "", None


def _snake(name: str) -> str:
    if name.isupper():
        return name.lower()
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
    return _SHORT.get(snake, snake)


def output(layer: Made | None) -> tuple[str | None, float | None]:
    """The activation of a layer, None where it is not known, and its width."""
    if layer is None or not layer.name.startswith(_LAYER):
        return None, None
    if layer.short in ("Softmax", "Activation"):
        return (
            ("softmax", None)
            if layer.short == "Softmax"
            else (_activation_name(layer.argument(0, "activation")), None)
        )
    if (layer.short != "Dense" and layer.short not in _CONVOLUTIONS) or layer.open:
        return None, None
    units = layer.argument(0, "units", "filters")
    width = float(units.value) if isinstance(units, Const) and isinstance(units.value, int) else None
    activation = layer.argument(1 if layer.short == "Dense" else 7, "activation")
    return ("linear" if activation is None else _activation_name(activation)), width


def _activation_name(activation: Value | None) -> str | None:
    if isinstance(activation, Const):
        return "linear" if activation.value is None else str(activation.value)
    name = getattr(activation, "name", "")
    return name.rpartition(".")[2] or None
