"""Copies of batches, and drawing rows without touching the streams of random numbers."""

from __future__ import annotations

import copy
from typing import Any

import torch

from traindx.intervene.pytorch.calls import mapped

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
    """All tensors of a batch with the keys they stand under."""
    found: list[tuple[str, torch.Tensor]] = []

    def see(name: str, tensor: torch.Tensor) -> torch.Tensor:
        found.append((name, tensor))
        return tensor

    mapped(batch, "", see)
    return found


class Pool:
    """Rows seen so far, to be drawn in place of others: also where all rows of a batch are alike."""

    def __init__(self) -> None:
        self._random = torch.Generator()
        self._random.manual_seed(0)
        self._rows: torch.Tensor | None = None

    def drawn(self, rows: torch.Tensor) -> torch.Tensor:
        """As many rows, at random from these and the ones before."""
        known, fresh = self._rows, rows.detach()
        if known is not None and known.shape[1:] == fresh.shape[1:] and known.dtype == fresh.dtype:
            fresh = torch.cat([known.to(fresh.device), fresh])
        each = max(1, fresh[:1].numel())
        most = max(len(rows), min(_POOL_ROWS, _POOL_ELEMENTS // each))
        self._rows = fresh[-most:]
        chosen = torch.randperm(len(self._rows), generator=self._random)[: len(rows)]
        return self._rows[chosen.to(fresh.device)].clone()
