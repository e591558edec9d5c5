"""Loss functions of Keras: their canonical kind, and what they compare in a form all frameworks share."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from traindx.core.kinds import BY_CLASS, layer_kind
from traindx.observe.arrays import Values, shape_text
from traindx.observe.keras.layer_statistics import activation_of
from traindx.observe.keras.tensors import is_real

_KINDS = {
    "mean_squared_error": "mse",
    "mean_absolute_error": "mae",
    "huber": "huber",
    "log_cosh": "log_cosh",
    "mean_squared_logarithmic_error": "squared_log_error",
    "mean_absolute_percentage_error": "percentage_error",
    "kl_divergence": "kl_divergence",
    "poisson": "poisson",
    "hinge": "hinge",
    "categorical_hinge": "class_hinge",
    "cosine_similarity": "cosine",
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# The node that an activation leaves in a graph of PyTorch is how operations are called here.
_OPERATIONS = {
    "softmax": "Softmax",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "relu": "Relu",
    "softplus": "Softplus",
}
_LAYER_OPERATIONS = {"dense": "Addmm", "conv": "Convolution"}


def function_name(loss: Any) -> str:
    """`sparse_categorical_crossentropy`, whether a class, a function or a string was given."""
    name = str(getattr(getattr(loss, "fn", None), "__name__", "") or "")
    return name if name and name != "<lambda>" else _CAMEL.sub("_", type(loss).__name__).lower()


def from_logits(loss: Any) -> bool:
    inner = getattr(loss, "_fn_kwargs", None) or {}
    return bool(getattr(loss, "from_logits", inner.get("from_logits", False)))


def kind(loss: Any) -> str:
    """What it compares; a cross-entropy of logits is another kind than one of probabilities."""
    name, logits = function_name(loss), from_logits(loss)
    if name.endswith("categorical_crossentropy"):
        return "softmax_cross_entropy" if logits else "categorical_cross_entropy"
    if name == "binary_crossentropy":
        return "sigmoid_cross_entropy" if logits else "binary_cross_entropy"
    return _KINDS.get(name, name)


def facts(loss: Any, target: Any, output: Any, last: Any, rows: int) -> dict[str, object]:
    """What is recorded once of a loss function; `last` is the layer that gave its output for so many rows."""
    reduction = str(getattr(loss, "reduction", "") or "none")
    target_shape, output_shape = _aligned_shapes(kind(loss), _shape(target, rows), _shape(output, rows))
    fact: dict[str, object] = {
        "function": function_name(loss),
        "kind": kind(loss),
        "reduction": {"sum_over_batch_size": "mean"}.get(reduction, reduction),
        "from_logits": from_logits(loss),
        "output_shape": shape_text(output_shape),
        "target_shape": shape_text(target_shape),
        "output_dtype": _dtype(output),
        "target_dtype": _dtype(target),
        "broadcasts": _broadcasts(target, output),
    }
    if last is not None:
        fact["after_layers"] = operations(last)
    return fact


def operations(layer: Any) -> list[str]:
    """The operations between the last layer with weights and the loss, the last first."""
    function = activation_of(layer)
    end_operations = [_OPERATIONS.get(function, function.title())] if function else []
    layer_operation = _LAYER_OPERATIONS.get(layer_kind(type(layer).__name__))
    return [*end_operations, layer_operation] if layer_operation else end_operations


def _shape(tensor: Any, rows: int) -> list[int | str]:
    sizes = [int(size) if size else "?" for size in tensor.shape]
    return [rows or sizes[0], *sizes[1:]] if sizes else []


def _aligned_shapes(
    kind: str, target: list[int | str], output: list[int | str]
) -> tuple[list[int | str], list[int | str]]:
    """As `aligned` makes them."""
    if kind in BY_CLASS and len(output) > 1:
        one_hot = target[1:] == output[1:] and output[-1] != 1
        single = len(target) == len(output) and target[-1:] == [1]
        return target[:-1] if one_hot or single else target, [output[0], output[-1], *output[1:-1]]
    return target, output


def _dtype(tensor: Any) -> str:
    name = getattr(tensor.dtype, "name", None)
    return str(name or tensor.dtype).removeprefix("torch.")


def _broadcasts(target: Any, output: Any) -> bool:
    """Keras adds or takes away a last dimension of one; any other difference stretches one to the other."""
    target_shape, output_shape = list(target.shape), list(output.shape)
    if not is_real(target) or len(target_shape) != len(output_shape):
        return False
    return any(a != b and 1 in (a, b) for a, b in zip(target_shape[1:], output_shape[1:], strict=True))


def aligned(kind: str, target: Values, output: Values) -> tuple[Values, Values]:
    """Targets of classes as their numbers, and classes along the second dimension of the output."""
    if kind in BY_CLASS and output.ndim > 1:
        classes = output.shape[-1]
        if target.shape == output.shape and classes > 1:
            target = target.argmax(axis=-1)
        elif target.ndim == output.ndim and target.shape[-1] == 1:
            target = target[..., 0]
        whole = target.dtype.kind == "f" and bool((target == np.rint(target)).all())
        return target.astype(np.int64) if whole else target, np.moveaxis(output, -1, 1)
    if target.ndim + 1 == output.ndim and output.shape[-1] == 1:
        return target, output[..., 0]
    if output.ndim + 1 == target.ndim and target.shape[-1] == 1:
        return target[..., 0], output
    return target, output
