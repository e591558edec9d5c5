"""Keras models as a script builds them: their last layer and the loss they are compiled with."""

from __future__ import annotations

from dataclasses import dataclass

from traindx.source.execution import CallEvent, Trace
from traindx.source.values import Const, ListValue, Made, Value

_SEQUENTIAL = ("keras.Sequential", "keras.models.Sequential")
_MODEL = ("keras.Model", "keras.models.Model")


@dataclass(frozen=True, eq=False)
class Compiled:
    """One call of `compile`: the activation at the end (None when not known), and the loss."""

    event: CallEvent
    last: Made | None
    activation: str | None
    units: float | None
    loss: str
    from_logits: bool | None


def compiled(trace: Trace) -> list[Compiled]:
    """Every Keras model that is compiled with a loss."""
    models = []
    for event in trace.methods("compile"):
        loss = event.value.argument(1, "loss")
        if "optimizer" not in event.value.keywords and loss is None:
            continue
        name, logits = _loss(loss)
        last = _last_layer(trace, event.value.receiver)
        activation, units = _activation(last)
        models.append(Compiled(event, last, activation, units, name, logits))
    return models


def _loss(value: Value | None) -> tuple[str, bool | None]:
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
    known = {
        "SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
        "CategoricalCrossentropy": "categorical_crossentropy",
        "BinaryCrossentropy": "binary_crossentropy",
        "MeanSquaredError": "mse",
        "mean_squared_error": "mse",
    }
    return known.get(name, name)


def _last_layer(trace: Trace, model: Value | None) -> Made | None:
    """The layer that makes the output."""
    if not isinstance(model, Made) or model.kind != "call":
        return None
    if model.name in _SEQUENTIAL:
        layers = model.args[0] if model.args else model.keywords.get("layers")
        known = list(layers.items) if isinstance(layers, ListValue) else []
        known += [e.value.args[0] for e in trace.methods("add") if e.value.receiver is model and e.value.args]
        last = known[-1] if known else None
        return last if isinstance(last, Made) and last.kind == "call" else None
    if model.name in _MODEL:
        output = model.argument(1, "outputs")
        if isinstance(output, Made) and output.kind == "apply" and isinstance(output.receiver, Made):
            return output.receiver
    return None


def _activation(layer: Made | None) -> tuple[str | None, float | None]:
    if layer is None or not layer.name.startswith("keras.layers."):
        return None, None
    if layer.short in ("Softmax", "Activation"):
        first = layer.argument(0, "activation")
        activation_name = str(first.value) if isinstance(first, Const) else None
        return ("softmax", None) if layer.short == "Softmax" else (activation_name, None)
    if layer.short != "Dense" or layer.open:
        return None, None
    units = layer.argument(0, "units")
    width = float(units.value) if isinstance(units, Const) and isinstance(units.value, int) else None
    activation = layer.argument(1, "activation")
    if activation is None or (isinstance(activation, Const) and activation.value in (None, "linear")):
        return "linear", width
    if isinstance(activation, Const):
        return str(activation.value), width
    name = getattr(activation, "name", "")
    return (name.rpartition(".")[2] or None), width
