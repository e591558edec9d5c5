"""The properties of an array that a measurement needs, for numpy arrays and a framework's tensors alike.

A framework registers its own tensor class when it is imported. Nothing here changes its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
# A tensor of some framework, or an array.
Tensor = Any


@singledispatch
def readable(tensor: Tensor) -> Tensor | None:
    """The numbers behind a tensor, with at least one dimension; None where they cannot be read."""
    del tensor
    return None


@readable.register
def _(tensor: np.ndarray) -> Tensor | None:
    if not tensor.size or tensor.dtype.kind not in "fiub":
        return None
    return tensor.reshape(1) if tensor.ndim == 0 else tensor


@singledispatch
def evenly(data: Tensor, limits: Sequence[int]) -> Tensor:
    """A view of at most `limits[d]` evenly spaced places along each dimension."""
    counts = [min(length, max(limit, 1)) for length, limit in zip(data.shape, limits, strict=True)]
    apart = [length // count if count else 1 for length, count in zip(data.shape, counts, strict=True)]
    return data[tuple(slice(0, count * step, step) for count, step in zip(counts, apart, strict=True))]


@singledispatch
def host(data: Tensor) -> Values:
    """As an array that numpy can compute with."""
    array = np.asarray(data)
    return array.astype(np.float32) if array.dtype.kind == "f" and array.dtype.itemsize < 4 else array


@singledispatch
def is_real(data: Tensor) -> bool:
    """Whether it holds real numbers, rather than whole ones."""
    return bool(data.dtype.kind == "f")


@singledispatch
def channels_second(data: Tensor) -> Tensor:
    """The last dimension moved to the second place."""
    return np.moveaxis(data, -1, 1)


def size(data: Tensor) -> int:
    """The number of elements."""
    return prod(data.shape)


def shape_text(shape: Sequence[object]) -> str:
    """`32x10`."""
    return "x".join(map(str, shape)) or "scalar"


def dtype_name(data: Tensor) -> str:
    return str(data.dtype).removeprefix("torch.")


def limits(shape: Sequence[int], elements: int) -> list[int]:
    """How many places to read along each dimension: the batch first, the rest is shared."""
    limits, remaining = [], elements
    for axis, length in enumerate(shape):
        share = remaining if axis == len(shape) - 1 else max(1, round(remaining ** (1 / (len(shape) - axis))))
        count = min(length, max(1, share))
        limits.append(count)
        remaining = max(1, remaining // count)
    return limits
