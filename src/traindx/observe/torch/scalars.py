"""Numbers out of tensors: at once on the CPU, later and all together from a device."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import torch

Row = dict[str, object]


def scalar(tensor: Any) -> float | torch.Tensor | None:
    """The number of a one-element tensor; a copy of the tensor where reading it would make a device wait."""
    if not isinstance(tensor, torch.Tensor) or tensor.numel() != 1 or in_transform(tensor):
        return None
    if tensor.is_cpu:
        value = tensor.item()
        return float(value) if isinstance(value, int | float) else None
    if tensor.is_meta or tensor.is_complex():
        return None
    return tensor.detach().reshape(()).clone()


def together(norms: list[torch.Tensor]) -> float | torch.Tensor:
    """The norm of parts whose norms are given."""
    norm = norms[0] if len(norms) == 1 else torch.stack([part.float() for part in norms]).norm()
    value = scalar(norm)
    return norm if value is None else value


def exact_norm(parameters: list[torch.Tensor]) -> torch.Tensor | None:
    """The norm of all dense gradients in double precision."""
    gradients = [
        parameter.grad
        for parameter in parameters
        if parameter.grad is not None and parameter.grad.layout is torch.strided
    ]
    norms = [
        torch.linalg.vector_norm(gradient, dtype=torch.float64)
        for gradient in gradients
        if gradient.is_floating_point()
    ]
    return torch.linalg.vector_norm(torch.stack(norms)) if norms else None


def limited(norm: float | torch.Tensor, limit: float) -> float | torch.Tensor:
    return min(norm, limit) if isinstance(norm, float) else torch.clamp(norm, max=limit)


def in_transform(tensor: torch.Tensor) -> bool:
    """Whether a tensor only stands for others: under vmap, grad transforms, tracing."""
    functorch = getattr(torch._C, "_functorch", None)
    if functorch is not None and functorch.is_functorch_wrapped_tensor(tensor):
        return True
    return type(tensor) not in (torch.Tensor, torch.nn.Parameter) and _is_fake(tensor)


def _is_fake(tensor: torch.Tensor) -> bool:
    return type(tensor).__name__ in ("FakeTensor", "FunctionalTensor", "Proxy")


def settle(rows: Iterator[MutableMapping[str, object]] | list[Row]) -> None:
    """Replace the tensors in rows by their numbers, with one transfer for each device."""
    waiting: dict[torch.device, list[tuple[Any, str, torch.Tensor]]] = {}
    for row in rows:
        for key, value in row.items():
            if isinstance(value, torch.Tensor):
                waiting.setdefault(value.device, []).append((row, key, value))
    for values in waiting.values():
        numbers = torch.stack([tensor.float() for _, _, tensor in values]).tolist()
        for (row, key, _), number in zip(values, numbers, strict=True):
            row[key] = number
