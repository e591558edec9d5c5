"""Copies of batches, and drawing rows without touching the streams of random numbers."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch

from traindx.observe.torch.batch_columns import is_given
from traindx.observe.torch.places.models import mapped

_POOL_ROWS = 4096
_POOL_ELEMENTS = 2_000_000


def copied(batch: Any) -> Any:
    """A batch that may be changed in place without harm to this one."""
    if isinstance(batch, torch.Tensor | dict | tuple | list):
        return mapped(batch, "", lambda _, tensor: tensor.detach().clone())
    try:
        return copy.deepcopy(batch)
    except Exception:
        return batch


def tensors_in(batch: Any) -> list[tuple[str, torch.Tensor]]:
    """All tensors of a batch with their keys."""
    tensors: list[tuple[str, torch.Tensor]] = []

    def see(name: str, tensor: torch.Tensor) -> torch.Tensor:
        tensors.append((name, tensor))
        return tensor

    mapped(batch, "", see)
    return tensors


def grad_fn_of(value: Any) -> Any:
    """The operation that computed the first tensor in a value that has gradients; None where none has."""
    return next((tensor.grad_fn for _, tensor in tensors_in(value) if tensor.grad_fn is not None), None)


def rows_within(tensors: list[tuple[str, torch.Tensor]], limit: float) -> torch.Tensor | None:
    """Which rows of the first input of real numbers are finite and within a limit; None without one."""
    reals = [
        (name, tensor)
        for name, tensor in tensors
        if tensor.is_floating_point() and tensor.dim() and tensor.numel()
    ]
    if not reals:
        return None
    real = next((tensor for name, tensor in reals if is_given(name)), reals[0][1])
    return real.detach().reshape(len(real), -1).abs().amax(1) <= limit


class Pool:
    """Rows seen so far, to be drawn in place of others: also where all rows of a batch are alike."""

    def __init__(self) -> None:
        self._random = torch.Generator()
        self._random.manual_seed(0)
        self._rows: list[torch.Tensor] = []

    def drawn(self, rows: torch.Tensor) -> torch.Tensor:
        """As many rows, at random from these and the ones before."""
        return self.drawn_together([rows])[0]

    def drawn_together(self, parts: list[torch.Tensor]) -> list[torch.Tensor]:
        """The same of several tensors whose rows belong together."""
        fresh, count = [part.detach() for part in parts], len(parts[0])
        if len(self._rows) == len(fresh) and all(map(_fit, self._rows, fresh)):
            fresh = [torch.cat([old.to(new.device), new]) for old, new in zip(self._rows, fresh, strict=True)]
        row_size = max(1, sum(tensor[:1].numel() for tensor in fresh))
        row_limit = max(count, min(_POOL_ROWS, _POOL_ELEMENTS // row_size))
        self._rows = [tensor[-row_limit:] for tensor in fresh]
        chosen = torch.randperm(len(self._rows[0]), generator=self._random)[:count]
        return [tensor[chosen.to(tensor.device)].clone() for tensor in self._rows]


def _fit(old: torch.Tensor, new: torch.Tensor) -> bool:
    return old.shape[1:] == new.shape[1:] and old.dtype == new.dtype


def range_of(values: Iterable[float] | torch.Tensor) -> str:
    """`0.1 to 3`."""
    numbers = torch.as_tensor(values)
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
