"""Views that move an axis: a reshape where a transpose was meant, read from the graph of a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import prod
from operator import mul

import torch
from torch.autograd.graph import Node

from traindx.observe.arrays import shape_text
from traindx.observe.torch.graph import Graph, LayerUses, inputs, operation, output_shape, setting
from traindx.observe.torch.saved import OPAQUE

_VIEWS = frozenset({"View", "UnsafeView", "ReshapeAlias"})
# Cut before or after: the shift of relative positions, which reads a padded map with its sides exchanged.
_SHIFTS = "Slice"
_KEPT = 8
Sizes = tuple[int, ...]


def moved_axes(
    graph: Graph, layer_of: Callable[[torch.Tensor], str], given: Sequence[int] = ()
) -> dict[str, object]:
    """How many views there are, and the first that move an axis: sizes before and after, the layer before.

    `given` are the sizes of the model's input: one of the first two is the batch.
    """
    views = [node for node in graph.nodes if operation(node) in _VIEWS]
    found: list[tuple[Node, Sizes, Sizes, int]] = []
    for node in views:
        before, after = _sizes(setting(node, "self_sym_sizes")), _sizes(output_shape(node))
        size = moved(before, after, given[:2])
        if size and not _is_shift(node, graph):
            found.append((node, before, after, size))
    order = [(before, after) for _, before, after, _ in found]
    found = [view for view in found if not _is_undone(view[1], view[2], order)]
    uses = LayerUses(graph, layer_of) if found else None
    fact = [
        {
            "before": shape_text(before),
            "after": shape_text(after),
            "size": size,
            "layer": uses.layer_before(node) if uses is not None else "",
        }
        for node, before, after, size in found[:_KEPT]
    ]
    whole = graph.complete and not any(operation(node) in OPAQUE for node in graph.nodes)
    return {"views": len(views), "moving": len(found), "first": fact, "complete": whole}


def moved(before: Sequence[int], after: Sequence[int], batch: Sequence[int] = ()) -> int:
    """The size of an axis that is elsewhere after a view; 0 where neighbouring axes are merged or split.

    Sizes can agree by chance: (T, B, H * D) viewed as (T, B * H, D) shows the sizes of a transpose where
    B = D. Where splits and merges may explain all, only the forms that few programs mean by them count.
    """
    before, after = [size for size in before if size != 1], [size for size in after if size != 1]
    if 0 in before or prod(before) != prod(after):
        return 0
    for number, (old, new) in enumerate(_blocks(before, after)):
        if min(len(old), len(new)) < 2:
            continue
        sizes = [size for size in old if size in new and before.count(size) == after.count(size) == 1]
        # In front, (T, B * H, D) as (T * B, H * D) looks like it where T = H: there only the batch counts.
        known = sizes if number else [size for size in sizes if size in batch]
        if sizes and (not _may_be_split(old, new) or _is_typical(old, new, known)):
            return sizes[0]
    return 0


def _is_typical(old: list[int], new: list[int], sizes: list[int]) -> bool:
    """Heads made of the last axis with the axis between them kept: (T, H * D) to (H, T, D), and back; all
    axes in another order."""
    few, many = sorted((old, new), key=len)
    heads = len(few) == 2 and len(many) == 3 and few[0] == many[1] and few[0] in sizes
    return heads or (len(old) > 2 and sorted(old) == sorted(new))


def _may_be_split(old: list[int], new: list[int]) -> bool:
    """Whether axes split in parts and merged with their neighbours, in the order they have, give this."""
    ends = sorted({*accumulate(reversed(old), mul), *accumulate(reversed(new), mul)})
    return all(larger % smaller == 0 for smaller, larger in pairwise(ends))


def _blocks(before: list[int], after: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The smallest runs of axes that hold the same elements before and after."""
    old: list[int] = []
    new: list[int] = []
    rest = iter(after)
    for size in before:
        old.append(size)
        while prod(new) < prod(old):
            new.append(next(rest))
        if prod(new) == prod(old):
            yield old, new
            old, new = [], []


def _is_undone(before: Sizes, after: Sizes, order: list[tuple[Sizes, Sizes]]) -> bool:
    """Whether axes are joined first and parted again later, as around statistics over groups of channels."""
    pair = [view for view in order if view in ((before, after), (after, before))]
    return len({*pair}) == 2 and len(pair[0][0]) > len(pair[0][1])


def _is_shift(node: Node, graph: Graph) -> bool:
    around = [*graph.consumers[node], *(source for source, _ in inputs(node))]
    return any(operation(other) == _SHIFTS for other in around)


def _sizes(shape: object) -> Sizes:
    """Plain numbers only: symbolic sizes belong to a compiler."""
    if not isinstance(shape, list | tuple) or not all(type(size) is int for size in shape):
        return ()
    return tuple(shape)
