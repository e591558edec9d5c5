"""The order in which a DataLoader gives its samples."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

import torch
from torch.utils.data import IterableDataset, Sampler, SequentialSampler


class _RandomOrder(Sampler[int]):
    """A new order each time while gradients are recorded; from first to last otherwise."""

    def __init__(self, data: Sized) -> None:
        self._data = data
        self._random = torch.Generator()
        self._random.manual_seed(0)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Iterator[int]:
        count = len(self._data)
        if not torch.is_grad_enabled():
            return iter(range(count))
        return iter(torch.randperm(count, generator=self._random).tolist())


def random_order(data: Sized) -> Sampler[int]:
    return _RandomOrder(data)


def in_order(given: dict[str, Any]) -> str:
    """Why the order of a loader cannot or need not be changed; empty if it can."""
    if isinstance(given["dataset"], IterableDataset) or not hasattr(given["dataset"], "__len__"):
        return "the dataset is iterable: only the script decides on its order"
    if given.get("shuffle"):
        return "the DataLoader shuffles already"
    sampler = given.get("sampler")
    if given.get("batch_sampler") is not None or not isinstance(sampler, SequentialSampler | None):
        return "the DataLoader has a sampler of the script's own"
    return ""
