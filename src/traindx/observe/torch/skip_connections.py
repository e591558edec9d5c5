"""What the graph of a loss tells of a model's build: skip connections, and how many layers lie in a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NODES = 20_000
_NEAR = 400
_LEAF = "AccumulateGrad"
_LAYERS = (
    "AddmmBackward",
    "MmBackward",
    "LinearBackward",
    "MkldnnLinear",
    "ConvolutionBackward",
    "MkldnnRnnLayerBackward",
    "CudnnRnnBackward",
)


def residuals(grad_fn: Any) -> int:
    """Sums of two branches that come from one place, around a layer: no bias, no sum of losses."""
    return sum(1 for node in _nodes(grad_fn) if node.name().startswith("AddBackward") and _joins(node))


def depth(grad_fn: Any) -> int:
    """Layers with weights on the longest way from the loss to an input."""
    deepest: dict[Any, int] = {}
    todo = [grad_fn]
    while todo:
        node = todo[-1]
        waiting = [one for one in _inputs(node) if one not in deepest]
        if node in deepest or len(deepest) > _NODES:
            todo.pop()
        elif waiting:
            todo += waiting
        else:
            below = max((deepest[one] for one in _inputs(node)), default=0)
            deepest[node] = below + node.name().startswith(_LAYERS)
            todo.pop()
    return deepest.get(grad_fn, 0)


def _inputs(node: Any) -> list[Any]:
    return [one for one, _ in node.next_functions if one is not None and _LEAF not in one.name()]


def _nodes(*starts: Any, limit: int = _NODES) -> Iterator[Any]:
    """All nodes behind some, themselves among them."""
    seen = set(starts)
    todo = list(starts)
    while todo:
        node = todo.pop()
        yield node
        for one in _inputs(node):
            if one not in seen and len(seen) < limit:
                seen.add(one)
                todo.append(one)


def _joins(node: Any) -> bool:
    """Whether the two sides of a sum meet again further back, with a layer on the way of one of them."""
    sides = _inputs(node)
    if len(sides) != 2 or _is_single(node):
        return False
    seen = [{sides[0]}, {sides[1]}]
    edges = [[sides[0]], [sides[1]]]
    while seen[0].isdisjoint(seen[1]):
        if not (edges[0] or edges[1]) or len(seen[0]) + len(seen[1]) > _NEAR:
            return False
        for mine, edge in zip(seen, edges, strict=True):
            found = {one for here in edge for one in _inputs(here)} - mine
            mine |= found
            edge[:] = found
    behind = set(_nodes(*(seen[0] & seen[1]), limit=_NEAR))
    return any(one.name().startswith(_LAYERS) for one in (seen[0] | seen[1]) - behind)


def _is_single(node: Any) -> bool:
    """Whether it gives one number, as a sum of losses does."""
    known: Any = getattr(node, "_input_metadata", None)
    return bool(known) and all(size == 1 for size in known[0].shape)
