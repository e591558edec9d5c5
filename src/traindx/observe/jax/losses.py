"""Loss functions of optax: their canonical kinds, and what they compare."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.observe.arrays import shape_text

KINDS = {
    "softmax_cross_entropy_with_integer_labels": "softmax_cross_entropy",
    "softmax_cross_entropy": "softmax_cross_entropy",
    "safe_softmax_cross_entropy": "softmax_cross_entropy",
    "sigmoid_binary_cross_entropy": "sigmoid_cross_entropy",
    "squared_error": "mse",
    "l2_loss": "mse",
    "huber_loss": "huber",
    "log_cosh": "log_cosh",
    "kl_divergence": "kl_divergence",
    "hinge_loss": "hinge",
    "cosine_distance": "cosine",
}
_FROM_LOGITS = ("softmax_cross_entropy", "sigmoid_cross_entropy")


def loss_fact(name: str, output: Any, target: Any) -> dict[str, Any]:
    """What is recorded once of a loss function, from the arguments it was traced with."""
    output_shape, target_shape = _shape(output), _shape(target)
    kind = KINDS[name]
    classes = kind == "softmax_cross_entropy" and len(output_shape) > 1
    one_hot = classes and target_shape == output_shape
    return {
        "function": name,
        "kind": kind,
        "reduction": "mean",
        "from_logits": kind in _FROM_LOGITS,
        "output_shape": shape_text(
            (output_shape[0], output_shape[-1], *output_shape[1:-1]) if classes else output_shape
        ),
        "target_shape": shape_text(target_shape[:-1] if one_hot else target_shape),
        "output_dtype": _dtype(output),
        "target_dtype": _dtype(target),
        "broadcasts": not classes and _stretches(output_shape, target_shape),
        "broadcast_shape": shape_text(_together(output_shape, target_shape)),
        "shape": output_shape,
    }


def written_fact(kind: str, shape: tuple[int, ...]) -> dict[str, Any]:
    """A loss that the script writes itself, over outputs and targets of one shape."""
    return {
        "function": f"{kind} written by hand",
        "kind": kind,
        "reduction": "mean",
        "from_logits": False,
        "output_shape": shape_text(shape),
        "target_shape": shape_text(shape),
        "output_dtype": "float32",
        "target_dtype": "float32",
        "broadcasts": False,
        "shape": shape,
    }


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(int(size) for size in np.shape(value))


def _dtype(value: Any) -> str:
    return str(getattr(value, "dtype", type(value).__name__))


def _together(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return tuple(np.broadcast_shapes(first, second))
    except ValueError:
        return first


def _stretches(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether two arrays become larger than either of them."""
    return bool(first) and bool(second) and _together(first, second) not in (first, second)
