"""Which parameters the loss was computed from, and which of them an optimizer holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from traindx.observe.clock import monotonic
from traindx.observe.torch.graph import is_leaf, variable, walk
from traindx.observe.torch.naming import Names

_SECONDS = 0.2
_NAMED = 100
_SHARDED = ("_local_tensor", "_is_flat_param", "_fsdp_flattened", "ds_tensor")


def reach_facts(grad_fn: Any, held: Sequence[torch.Tensor], names: Names) -> dict[str, Any] | None:
    """The parameters behind a loss beside those that are held; None where a graph does not show them."""
    if any(hasattr(one, mark) for one in held for mark in _SHARDED):
        return None
    graph = walk(grad_fn, monotonic() + _SECONDS)
    found = {id(one): one for one in map(variable, filter(is_leaf, graph.nodes)) if one is not None}
    leaves = [one for one in found.values() if isinstance(one, torch.nn.Parameter)]
    mine = {id(one) for one in held}
    free = [one for one in leaves if id(one) not in mine]
    outside = [one for one in held if one.requires_grad and id(one) not in found]
    return {
        "parameters": len(leaves),
        "elements": _elements(leaves),
        "held": sum(1 for one in found if one in mine),
        "free": [_name(one, names) for one in free[:_NAMED]],
        "free_elements": _elements(free),
        "outside": len(outside),
        "complete": graph.complete,
    }


def _elements(tensors: Iterable[torch.Tensor]) -> int:
    return sum(one.numel() for one in tensors)


def _name(parameter: torch.Tensor, names: Names) -> str:
    return names.parameter_name(parameter)
