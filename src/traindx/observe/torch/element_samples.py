"""Small, evenly spaced samples of tensors, and their transfer to the host.

Nothing here changes a tensor it is given, keeps a link to it, or draws a random number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import torch

from traindx.observe import arrays
from traindx.observe.arrays import Values

# Tells a norm to 1.6 % of itself; what costs is not computing but fetching them from memory.
SAMPLE = 2048
# Neighbours are read together: sixteen float32 fill one line of the cache.
_RUN = 16
READABLE = frozenset(
    {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128}
)
_PLAIN: dict[type, bool] = {torch.Tensor: True, torch.nn.Parameter: True}


class ElementSpread(NamedTuple):
    """Where in a block of memory the sample lies, as `as_strided` takes it."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    length: int


def spread(numel: int, limit: int = SAMPLE) -> ElementSpread:
    """At most `limit` of so many elements, evenly over all of them: everything, or short runs.

    The distance of the runs has no divisor in common with the number of elements, so that they do not
    fall on the same few columns of every row.
    """
    if numel <= limit:
        return ElementSpread((numel,), (1,), numel)
    stride = -(-(numel - _RUN) // (limit // _RUN - 1))
    while gcd(stride, numel) > 1:
        stride += 1
    runs = (numel - _RUN) // stride + 1
    return ElementSpread((runs, _RUN), (stride, 1), runs * _RUN)


def plain(tensor: torch.Tensor) -> torch.Tensor | None:
    """The strided real numbers behind a tensor, apart from its graph; None where they cannot be read.

    A sharded tensor gives the part of this process. Complex numbers become pairs.
    """
    if not _is_plain(type(tensor)):
        tensor = getattr(tensor, "_local_tensor", tensor)
        if not _is_plain(type(tensor)):
            return None
    if tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized:
        return None
    if tensor.numel() and not tensor.data_ptr():  # memory that was given back
        return None
    data = tensor.data
    return torch.view_as_real(data) if data.is_complex() else data


def sample_of(data: torch.Tensor, where: ElementSpread) -> torch.Tensor:
    """The sampled elements as a view; of memory with gaps, as a view of a copy."""
    whole = data if dense(data) else data.contiguous()
    return whole.as_strided(where.size, where.stride)


@arrays.evenly.register
def evenly(data: torch.Tensor, limits: Sequence[int]) -> torch.Tensor:
    """A view of at most `limits[d]` evenly spaced places along each dimension."""
    size, stride = [], []
    for length, step, limit in zip(data.shape, data.stride(), limits, strict=True):
        count = min(length, max(limit, 1))
        apart = length // count if count else 1
        size.append(count)
        stride.append(apart * step)
    return data.as_strided(size, stride, data.storage_offset())


def to_host(tensors: Sequence[torch.Tensor]) -> list[Values]:
    """Tensors as arrays, with one transfer for each device and type."""
    waiting: dict[tuple[torch.device, torch.dtype], list[int]] = {}
    for number, tensor in enumerate(tensors):
        if not tensor.is_cpu:
            waiting.setdefault((tensor.device, tensor.dtype), []).append(number)
    arrays: dict[int, Values] = {}
    for numbers in waiting.values():
        together = torch.cat([tensors[number].reshape(-1) for number in numbers]).cpu().numpy()
        ends = np.cumsum([tensors[number].numel() for number in numbers])
        for number, part in zip(numbers, np.split(together, ends[:-1]), strict=True):
            arrays[number] = part.reshape(tuple(tensors[number].shape))
    return [arrays[number] if number in arrays else tensor.numpy() for number, tensor in enumerate(tensors)]


def _is_plain(kind: Any) -> bool:
    """Whether tensors of a class behave as tensors do: no dispatch or function of its own."""
    plain = _PLAIN.get(kind)
    if plain is None:
        usual: tuple[Any, ...] = (torch.Tensor.__torch_function__, torch.nn.Parameter.__torch_function__)
        functions = [getattr(method, "__func__", method) for method in usual]
        function = getattr(kind.__torch_function__, "__func__", kind.__torch_function__)
        plain = kind.__torch_dispatch__ is torch.Tensor.__torch_dispatch__ and function in functions
        _PLAIN[kind] = plain
    return plain


def dense(data: torch.Tensor) -> bool:
    """Whether the elements fill their memory without gaps or overlaps, in whatever order."""
    if data.is_contiguous():
        return True
    expected = 1
    for step, size in sorted(zip(data.stride(), data.shape, strict=True)):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


@arrays.readable.register
def readable(tensor: torch.Tensor) -> torch.Tensor | None:
    data = plain(tensor)
    if data is None or not data.numel():
        return None
    return data.reshape(1) if data.dim() == 0 else data


@arrays.is_real.register
def _(data: torch.Tensor) -> bool:
    return data.is_floating_point()


@arrays.channels_second.register
def _(data: torch.Tensor) -> torch.Tensor:
    return data.movedim(-1, 1)


@arrays.host.register
def host(data: torch.Tensor) -> Values:
    """As an array; numpy knows no half precision of ours."""
    data = data.cpu()
    if data.is_floating_point() and data.dtype.itemsize < 4:
        data = data.float()
    array: Values = data.numpy()
    return array
