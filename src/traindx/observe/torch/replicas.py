"""One number for the weights of a process, the same on every rank that holds the same weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import torch

from traindx.observe.torch.finite import readable

_ELEMENTS = 4_096
_DENSE_UNTIL = 512
_EVERY = 500
_GOLDEN = (5**0.5 - 1) / 2
# What wrappers that give every rank another part of the weights leave on them.
_SHARDED = ("_local_tensor", "_is_flat_param", "_fsdp_flattened", "ds_tensor")


def due(step: int) -> bool:
    """Whether the ranks are to be compared at this step: often at first, when they part most."""
    if step <= _DENSE_UNTIL:
        return step > 0 and step & (step - 1) == 0
    return step % _EVERY == 0


def checksum(parameters: Iterable[torch.Tensor]) -> float | None:
    """A weighted sum over a few elements of all weights; None when ranks hold different parts by design.

    Every element has a weight of its own, so that values that changed places show. The sum is exact, so it
    does not depend on the order a device adds in.
    """
    tensors = list(parameters)
    if is_sharded(tensors):
        return None
    readable_tensors = [plain for plain in map(readable, tensors) if plain is not None and plain.numel()]
    picked: dict[torch.device, list[torch.Tensor]] = {}
    for sample in _spread(readable_tensors):
        # Some devices have no float64.
        exact = torch.float32 if sample.device.type == "mps" else torch.float64
        picked.setdefault(sample.device, []).append(sample.to(exact))
    values = [value for samples in picked.values() for value in torch.cat(samples).tolist()]
    if not values:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    return math.fsum(value * weight for value, weight in zip(values, _weights(), strict=False))


def is_sharded(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether some of the weights are only the part of this rank."""
    return any(hasattr(tensor, mark) for tensor in tensors for mark in _SHARDED)


def _spread(tensors: list[torch.Tensor]) -> Iterable[torch.Tensor]:
    """Views of at most so many elements in total, from every tensor at even distances."""
    total = sum(tensor.numel() for tensor in tensors)
    apart = -(-len(tensors) // _ELEMENTS)
    for tensor in tensors[:: apart or 1]:
        share = max(1, (_ELEMENTS - len(tensors[::apart])) * tensor.numel() // total)
        flat = _flat(tensor)
        yield flat[:: max(1, flat.numel() // share)][:share]


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """All elements in the order of memory: no copy, whatever the memory format."""
    order = sorted(range(tensor.ndim), key=tensor.stride, reverse=True)
    return tensor.permute(order).reshape(-1)


@cache
def _weights() -> tuple[float, ...]:
    """Between 0.5 and 1.5, all different."""
    return tuple(0.5 + (place * _GOLDEN) % 1 for place in range(1, _ELEMENTS + 1))
