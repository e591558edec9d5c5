"""The parameters that a loss is computed from."""

from __future__ import annotations

import time
from collections.abc import Iterable

import torch

from traindx.observe.torch.graph import is_leaf, variable, walk

_SECONDS = 1.0


def leaves_behind(losses: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """Each once, in the order of the graph."""
    found: dict[int, torch.Tensor] = {}
    for loss in losses:
        if loss.grad_fn is not None:
            graph = walk(loss.grad_fn, time.monotonic() + _SECONDS)
            leaves = map(variable, filter(is_leaf, graph.nodes))
            found |= {id(one): one for one in leaves if one is not None}
    return list(found.values())
