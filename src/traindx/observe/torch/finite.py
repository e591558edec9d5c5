"""Whether a tensor is finite, and its range; read only where that has no side effects."""

from __future__ import annotations

import math
from typing import Literal

import torch

from traindx.observe.torch.scalars import in_transform

# What a tensor holds: "-inf" is nothing worse than -inf, which masks write on purpose.
Kind = Literal["finite", "-inf", "inf", "nan"]
_NARROW = {getattr(torch, name) for name in dir(torch) if name.startswith("float8")}


def readable(tensor: torch.Tensor) -> torch.Tensor | None:
    """The plain strided tensor behind it, or None where there are no values to read.

    A sharded tensor gives the part of this process: reading the whole would wait for the others. Memory that
    was given back (FSDP between forward and backward) must not be touched.
    """
    tensor = getattr(tensor, "_local_tensor", tensor)
    if in_transform(tensor) or torch.nn.parameter.is_lazy(tensor):
        return None
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        if hasattr(type(tensor), "__tensor_flatten__"):
            return None
        tensor = tensor.as_subclass(torch.Tensor)
    tensor = tensor.detach()
    if tensor.layout == torch.sparse_coo:
        tensor = tensor._values()
    if tensor.layout != torch.strided or tensor.is_meta or tensor.is_quantized or tensor.is_nested:
        return None
    span = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    needed = (tensor.storage_offset() + span + 1) * tensor.element_size()
    if tensor.numel() and tensor.untyped_storage().nbytes() < needed:
        return None
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def extent(tensor: torch.Tensor) -> tuple[float, float] | None:
    """Smallest and largest value in one pass; both NaN when there is a NaN; None when it has none to read."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        plain = readable(tensor)
        if plain is None or not plain.numel():
            return None
        if plain.dtype in _NARROW:
            plain = plain.float()
        if plain.dtype == torch.bool:
            plain = plain.to(torch.uint8)
        low, high = torch.stack(torch.aminmax(plain)).tolist()
    return float(low), float(high)


def kind(tensor: torch.Tensor) -> Kind | None:
    """The worst value in a tensor: NaN, then inf, then -inf; None when it cannot be read."""
    ends = extent(tensor)
    if ends is None:
        return None
    low, high = ends
    if math.isnan(low):
        return "nan"
    if high == math.inf:
        return "inf"
    return "-inf" if low == -math.inf else "finite"


def numbers(tensor: torch.Tensor) -> dict[str, object]:
    """Range, zeros and non-finite share, with the range taken over the finite values."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        plain = readable(tensor)
        if plain is None or not plain.numel():
            return {}
        plain = plain.float() if plain.dtype in _NARROW else plain
        good = torch.isfinite(plain)
        count = int(torch.count_nonzero(good))
        statistics: dict[str, object] = {
            "count": plain.numel(),
            "zeros": plain.numel() - int(torch.count_nonzero(plain)),
            "nonfinite": plain.numel() - count,
            "nonfinite_share": 1 - count / plain.numel(),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
        }
        if count == plain.numel():
            statistics["min"], statistics["max"] = torch.stack(torch.aminmax(plain)).tolist()
        elif count:
            statistics["min"] = torch.where(good, plain, math.inf).amin().item()
            statistics["max"] = torch.where(good, plain, -math.inf).amax().item()
    return statistics


def positions(tensor: torch.Tensor, dim: int) -> list[int]:
    """Where along `dim` there are non-finite values."""
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        plain = readable(tensor)
        if plain is None or plain.ndim != tensor.ndim or not -plain.ndim <= dim < plain.ndim:
            return []
        bad = ~torch.isfinite(plain)
        rest = [axis for axis in range(plain.ndim) if axis != dim % plain.ndim]
        along = bad.any(dim=rest) if rest else bad
        return [int(place) for place in along.nonzero().flatten().tolist()]
