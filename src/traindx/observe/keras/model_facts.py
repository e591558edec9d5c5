"""What a Keras model is made of, recorded once: layers, initial weights, activations, what is frozen."""

from __future__ import annotations

from collections import Counter
from math import prod, sqrt
from typing import Any

import numpy as np

from traindx.core.kinds import layer_kind
from traindx.observe.data.initial_values import is_even_draw
from traindx.observe.keras.layer_statistics import activation_of
from traindx.observe.keras.names import LayerNames
from traindx.observe.keras.tensors import host

_LISTED, _NAMED = 500, 50
_SAMPLE = 2048
_FANS = {"GlorotUniform": "both", "HeUniform": "in"}
# As the report and the detectors count activations: by the names of PyTorch's modules.
_TITLES = {"relu": "ReLU", "gelu": "GELU", "elu": "ELU", "selu": "SELU", "silu": "SiLU", "swish": "SiLU"}
_TITLES |= {"relu6": "ReLU6", "leaky_relu": "LeakyReLU", "leakyrelu": "LeakyReLU", "prelu": "PReLU"}


def model_facts(model: Any, names: LayerNames) -> dict[str, Any]:
    """The whole summary of one model; its weights are read as they are now."""
    layers = flattened(model)
    weighted = [layer for layer in layers if own_variables(layer)]
    matrices = [layer for layer in weighted if layer_kind(type(layer).__name__) not in ("norm", "embedding")]
    functions = [name for layer in layers if (name := activation_of(layer)) and name != "softmax"]
    kinds = [layer_kind(type(layer).__name__) for layer in layers]
    frozen = _frozen(layers)
    dtypes = sorted({str(variable.dtype) for variable in model.weights})
    return {
        "class": type(model).__name__,
        "parameters": elements(model.weights),
        "trainable": elements(model.trainable_weights),
        "layers": len(matrices),
        "layer_list": [_layer(layer, names) for layer in weighted[:_LISTED]],
        "activations": dict(Counter(_TITLES.get(name, name.title()) for name in functions)),
        "normalisation": dict(
            Counter(_norm_name(layer) for layer in layers if layer_kind(type(layer).__name__) == "norm")
        ),
        "l2": max((l2_of(layer) for layer in layers), default=0.0),
        "dropout": sorted({float(layer.rate) for layer in layers if _drops(layer)}),
        "shared": [],
        "dtypes": {
            kind: elements([variable for variable in model.weights if str(variable.dtype) == kind])
            for kind in dtypes
        },
        "frozen": {
            "count": len(frozen),
            "names": [names.variable(variable) for variable in frozen[:_NAMED]],
            "initial": elements([layer.kernel for layer in layers if _is_frozen_initial(layer)]),
            "elements": elements(frozen),
        },
        "embeddings": [
            {"name": names.layer(layer), "size": int(layer.input_dim), "width": int(layer.output_dim)}
            for layer in layers
            if hasattr(layer, "input_dim") and hasattr(layer, "output_dim")
        ][:_NAMED],
        "output_width": _output_width(matrices),
        "recurrent": "recurrent" in kinds,
        "attention": "attention" in kinds,
        "blocks": 0,
        "checkpointing": False,
    }


def flattened(model: Any) -> list[Any]:
    """All layers without layers inside, and those that compute by layers of their own, in order."""
    layers = list(model._flatten_layers(include_self=False, recursive=True))
    return [
        layer for layer in layers if not layer._layers or hasattr(layer, "cell") or own_variables(layer)
    ] or [model]


def own_variables(layer: Any) -> list[Any]:
    """Weights of the layer itself; seeds and moving averages are none."""
    variables = [*getattr(layer, "_trainable_variables", ()), *getattr(layer, "_non_trainable_variables", ())]
    return [variable for variable in variables if "float" in str(variable.dtype)]


def _frozen(layers: list[Any]) -> list[Any]:
    """Variables that could train and do not."""
    return [
        variable
        for layer in layers
        for variable in getattr(layer, "_trainable_variables", ())
        if not layer.trainable or not variable.trainable
    ]


def _is_frozen_initial(layer: Any) -> bool:
    """Whether a frozen layer has the weights it was made with: no bias, and a kernel drawn evenly."""
    kernel, bias = getattr(layer, "kernel", None), getattr(layer, "bias", None)
    fans = _FANS.get(type(getattr(layer, "kernel_initializer", None)).__name__)
    if fans is None or kernel is None or layer.trainable or len(kernel.shape) < 2:
        return False
    if bias is not None and np.any(host(bias.value)):
        return False
    *inner, fan_in, fan_out = (int(size) for size in kernel.shape)
    fan_in, fan_out = prod(inner) * fan_in, prod(inner) * fan_out
    bound = sqrt(6.0 / (fan_in + fan_out if fans == "both" else fan_in))
    return is_even_draw(host(kernel.value).reshape(-1), bound)


def _drops(layer: Any) -> bool:
    return layer_kind(type(layer).__name__) == "dropout" and isinstance(
        getattr(layer, "rate", None), int | float
    )


def l2_of(layer: Any) -> float:
    """The coefficient of the square of a layer's weights in the loss."""
    return float(getattr(getattr(layer, "kernel_regularizer", None), "l2", 0.0) or 0.0)


def _norm_name(layer: Any) -> str:
    """`BatchNormalization` is PyTorch's `BatchNorm`."""
    return type(layer).__name__.replace("Normalization", "Norm")


def elements(variables: list[Any]) -> int:
    return int(sum(prod(variable.shape) for variable in variables))


def _layer(layer: Any, names: LayerNames) -> dict[str, Any]:
    """Name, kind, shape (outputs first, as everywhere) and initial weights."""
    variables = own_variables(layer)
    weight = max(variables, key=lambda variable: len(variable.shape))
    kind = layer_kind(type(layer).__name__)
    facts: dict[str, Any] = {"name": names.layer(layer), "type": type(layer).__name__, "kind": kind}
    facts["parameters"] = elements(variables)
    shape = [int(size) for size in weight.shape]
    facts["shape"] = [shape[-1], shape[-2], *shape[:-2]] if len(shape) > 1 and kind != "embedding" else shape
    values = host(weight.value).reshape(-1) if prod(shape) > 1 else np.zeros(0)
    sample = values[:: -(-values.size // _SAMPLE)].astype(np.float64) if values.size else values
    if sample.size:
        facts["init"] = {"mean": float(sample.mean()), "std": float(sample.std())}
        if len(shape) > 1 and kind != "embedding":
            fan_in = prod(shape[:-1])
            facts["init"] |= {"fan_in": fan_in, "gain": float(sample.std()) * sqrt(fan_in)}
    return facts


def _output_width(layers: list[Any]) -> int | None:
    width = getattr(layers[-1], "units", None) or getattr(layers[-1], "filters", None) if layers else None
    return width if isinstance(width, int) else None
