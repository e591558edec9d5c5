"""Small tensors that stand for large ones: samples of activations and batches, sums over weights.

They are part of the step, so only operations that every backend and XLA can compile, on shapes that are
known when the step is traced.
"""

from __future__ import annotations

from math import ceil, prod
from typing import Any

# As many as a step of PyTorch is sampled by.
_ELEMENTS, _ROWS, _LEAST = 8192, 255, 16
_UNITS = 512
_GRADIENT = 256
_BATCH, _INSIDE = 64, 1024


def activation_sample(tensor: Any, channels_first: bool) -> Any:
    """Some rows of every unit, (rows, units); None for what has no units."""
    from keras import ops

    shape = tensor.shape
    if len(shape) < 2:
        return None
    unit = 1 if channels_first and len(shape) > 2 else len(shape) - 1
    units = shape[unit]
    if not units:
        return None
    unit_count = min(units, _UNITS)
    rows = max(_LEAST, min(_ROWS, _ELEMENTS // unit_count))
    other_axes = [axis for axis in range(1, len(shape)) if axis != unit]
    batch = rows if not other_axes else max(4, min(32, rows // 4))
    along = max(1, round((rows / batch) ** (1 / len(other_axes)))) if other_axes else 1
    places: list[slice] = []
    for axis, size in enumerate(shape):
        if axis == 0:
            places.append(slice(0, batch))
        elif axis == unit:
            places.append(slice(0, None, -(-units // _UNITS)))
        else:
            places.append(
                slice(0, along * max(1, size // along), max(1, size // along)) if size else slice(0, along)
            )
    sample = ops.cast(tensor[tuple(places)], "float32")
    sample = ops.moveaxis(sample, unit, -1) if unit != len(shape) - 1 else sample
    return ops.reshape(sample, (-1, len(range(*places[unit].indices(units)))))


def batch_sample(tensor: Any) -> Any:
    """The first samples of a batch, and of each at most so many elements, evenly."""
    from keras import ops

    shape = tensor.shape
    if not len(shape):
        return ops.reshape(tensor, (1,))
    inside = prod(size or 1 for size in shape[1:])
    along = len([size for size in shape[1:] if (size or 1) > 4]) or 1
    apart = ceil((inside / _INSIDE) ** (1 / along)) if inside > _INSIDE else 1
    places = [slice(0, _BATCH)] + [slice(0, None, apart if (size or 1) > 4 else 1) for size in shape[1:]]
    sample = tensor[tuple(places)]
    kind = str(sample.dtype)
    if "float" in kind and "float32" not in kind:
        sample = ops.cast(sample, "float32")
    return ops.cast(sample, "int32") if "bool" in kind else sample


def total(tensor: Any) -> Any:
    """The sum of its values: no number when one of them is none, for the price of a single operation."""
    from keras import ops

    return ops.cast(ops.sum(tensor), "float32")


def update_numbers(gradient: Any, before: Any, after: Any, scale: Any) -> tuple[Any, Any]:
    """Of one variable: squares, zeros and non-finite elements of its gradient, squares of weight and update.

    The second value is a sample of the gradient, for its direction. No gradient is one of NaN squares.
    """
    from keras import ops

    weights, new = ops.cast(before, "float32"), ops.cast(after, "float32")
    weight, change = ops.sum(ops.square(weights)), ops.sum(ops.square(new - weights))
    if gradient is None:
        no_gradient = ops.full((3,), float("nan"), dtype="float32")
        return ops.concatenate([no_gradient, ops.stack([weight, change])]), ops.zeros((1,), dtype="float32")
    # Of an embedding only the rows that were used have a gradient.
    sparse = type(gradient).__name__ == "IndexedSlices"
    values = ops.cast(gradient.values if sparse else gradient, "float32")
    if scale is not None:
        values = values / ops.cast(scale, "float32")
    square = ops.sum(ops.square(values))
    zeros = ops.mean(ops.cast(ops.equal(values, 0.0), "float32"))
    bad = ops.sum(1.0 - ops.cast(ops.isfinite(values), "float32"))
    return ops.stack([square, zeros, bad, weight, change]), _direction(values, sparse)


def _direction(values: Any, sparse: bool) -> Any:
    """Elements of a gradient, the same ones at each sample."""
    from keras import ops

    if sparse or not all(values.shape):
        return ops.zeros((1,), dtype="float32")
    size = prod(values.shape)
    return ops.reshape(values, (-1,))[:: max(1, -(-size // _GRADIENT))]
