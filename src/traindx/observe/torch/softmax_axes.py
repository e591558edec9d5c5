"""Softmaxes over an axis that is not the classes', read from the graph of a loss before backward.

Many are over other axes on purpose: attention, pooling, gates, maps of places. What tells them apart is what
they are compared with. A layer gives its classes along one axis; where the targets choose one of these
classes at each place, the softmax before them has to run over that axis. One over the width of an image or
over the batch is right only for targets that choose one place of that width, one sample of that batch. So
both are asked for: a layer that the softmax follows element by element, and targets that it is compared with
right away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import torch
from torch.autograd.graph import Node

from traindx.observe.arrays import shape_text
from traindx.observe.torch.compared_with import Targets, plain_dim, sizes_of
from traindx.observe.torch.graph import Graph, LayerUses, inputs, is_leaf, operation, setting
from traindx.observe.torch.saved import OPAQUE

_SOFTMAX = {"Softmax": "softmax", "LogSoftmax": "log_softmax"}
_CONVOLUTIONS = frozenset({"Convolution", "MkldnnConvolution"})
_LINEAR = frozenset({"Addmm", "Mm", "Linear", "MkldnnLinear"})
_PRODUCTS = frozenset({"Mul", "Bmm", "Baddbmm", "Mm", "Mv", "Addmm", "Linear", "Convolution", "Dot"})
# Element by element, or along axes that stay where they are.
_KEEPING = frozenset(
    "Add Sub Rsub Mul Div Neg Relu LeakyRelu Elu Gelu Silu Tanh Sigmoid Softplus Clamp ClampMin ClampMax "
    "Hardtanh NativeDropout NativeBatchNorm CudnnBatchNorm ToCopy Clone Alias MaskedFill Where".split()
)
_RESIZING = ("Upsample", "Slice")
_VIEWS = frozenset("View UnsafeView ReshapeAlias Reshape Squeeze Unsqueeze".split())
_CARRIERS = frozenset("T Transpose Permute View Reshape ToCopy Clone Alias".split())
_MOST, _CHAIN, _KEPT = 64, 16, 4
# Elements of the targets that are read.
_READ = 2**18
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class TargetShares:
    """Of the places that have targets: how many have one class; of the rows along the softmax that have any,
    how many have several, though not everywhere."""

    one_class: float
    several: float
    rows: int


def softmax_axes(graph: Graph, layer_of: Callable[[torch.Tensor], str]) -> dict[str, object]:
    """How many softmaxes follow a layer, and those over another axis than the classes of their targets."""
    softmaxes = [node for node in graph.nodes if operation(node) in _SOFTMAX][:_MOST]
    uses: LayerUses | None = None
    followed, other = 0, []
    for node in softmaxes:
        shape, axis = sizes_of(node), plain_dim(setting(node, "dim"), len(sizes_of(node)))
        classes, layer = _classes(node, graph)
        if layer is None or axis is None or classes is None or min(shape[axis], shape[classes]) < 2:
            continue
        followed += 1
        if axis == classes or _is_gate(node, graph):
            continue
        found = [_shares(target, classes, axis) for target in Targets(node, graph).found()]
        shares = [one for one in found if one is not None]
        if shares:
            uses = uses or LayerUses(graph, layer_of)
            best = max(shares, key=lambda one: one.one_class)
            other.append(
                {
                    "function": _SOFTMAX[operation(node)],
                    "axis": axis,
                    "class_axis": classes,
                    "shape": shape_text(shape),
                    "layer": uses.layer(layer),
                    "one_class": round(best.one_class, 4),
                    "several": round(best.several, 4),
                    "rows": best.rows,
                }
            )
    whole = graph.complete and not any(operation(node) in OPAQUE for node in graph.nodes)
    return {"after_layers": followed, "other_axis": other[:_KEPT], "complete": whole}


# Where the classes are.


def _classes(softmax: Node, graph: Graph) -> tuple[int | None, Node | None]:
    """The axis of the softmax along which a layer gives its outputs, and the layer."""
    way = [softmax]
    while len(way) < _CHAIN:
        source = _signal(way[-1])
        if source is None or source not in graph.consumers:
            return None, None
        axis = _outputs(source)
        if axis is not None:
            return _moved(axis, source, way[::-1]), source
        if not _is_passing(source):
            return None, None
        way.append(source)
    return None, None


def _outputs(node: Node) -> int | None:
    """The axis along which a layer with weights gives its outputs."""
    name, shape = operation(node), sizes_of(node)
    sources = [source for source, _ in node.next_functions]
    if name in _CONVOLUTIONS and len(shape) > 2:
        return 1 if len(sources) > 1 and _is_weight(sources[1]) else None
    if name not in _LINEAR or len(shape) < 2:
        return None
    weight, given = (1, 0) if name in ("Linear", "MkldnnLinear") else (-1, -2)
    if len(sources) < 2 or not _is_weight(sources[weight]) or _is_weight(sources[given]):
        return None
    return len(shape) - 1


def _is_weight(node: Node | None) -> bool:
    for _ in range(4):
        if node is None or is_leaf(node):
            break
        sources = [source for source, _ in inputs(node)]
        node = sources[0] if operation(node) in _CARRIERS and len(sources) == 1 else None
    return node is not None and is_leaf(node)


def _signal(node: Node) -> Node | None:
    """What came in next to weights and single numbers."""
    sources = [(source, number) for source, number in inputs(node) if not is_leaf(source)]
    if len(sources) > 1:
        sources = [(source, number) for source, number in sources if prod(sizes_of(source, number)) > 1]
    return sources[0][0] if len(sources) == 1 else None


def _is_passing(node: Node) -> bool:
    name = operation(node)
    if name in _KEEPING:
        source = _signal(node)
        return source is not None and sizes_of(source) == sizes_of(node)
    return name in _VIEWS or name in ("Permute", "Transpose", "T") or name.startswith(_RESIZING)


def _moved(axis: int | None, layer: Node, way: Sequence[Node]) -> int | None:
    """Where an axis of a layer's result is in what the softmax is given; None where it is none any more."""
    before = sizes_of(layer)
    for node in way[:-1]:
        if axis is None:
            return None
        after, name = sizes_of(node), operation(node)
        if name == "Permute":
            dims = [plain_dim(dim, len(before)) for dim in _listed(setting(node, "dims"))]
            axis = dims.index(axis) if axis in dims else None
        elif name in ("Transpose", "T"):
            ends = (setting(node, "dim0"), setting(node, "dim1")) if name == "Transpose" else (0, 1)
            first, second = (plain_dim(end, len(before)) for end in ends)
            axis = {first: second, second: first}.get(axis, axis)
        elif name in _VIEWS:
            axis = _viewed(axis, before, after)
        elif len(after) != len(before) or after[axis] != before[axis]:
            axis = None
        before = after
    return axis


def _viewed(axis: int, before: Sizes, after: Sizes) -> int | None:
    """An axis is kept by a view if all before it is, or all behind it."""
    if after[: axis + 1] == before[: axis + 1]:
        return axis
    behind = before[axis:]
    return len(after) - len(behind) if after[-len(behind) :] == behind else None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, tuple | list) else ()


# What it is for.


def _is_gate(softmax: Node, graph: Graph) -> bool:
    """Whether it is multiplied with something else that is learned: attention, pooling, experts."""
    above = graph.above(softmax) | {softmax}
    for node in above:
        if operation(node) not in _PRODUCTS:
            continue
        for source, number in inputs(node):
            # What has a gradient is a parameter, or was computed from one.
            if source not in above and prod(sizes_of(source, number)) > 1:
                return True
    return False


def _shares(target: torch.Tensor, classes: int, axis: int) -> TargetShares | None:
    """Whether targets are one of the classes, or one of the places along the softmax."""
    for other in range(target.dim()):
        if other not in (classes, axis):
            room = _READ // max(1, target.numel() // target.shape[other])
            target = target.narrow(other, 0, max(1, min(target.shape[other], room)))
    values = target.float()
    if not bool((values >= -1e-6).all()) or int((values.sum(_others(values, classes)) > 0).sum()) < 2:
        return None
    one_class, _, filled = _rows(values, classes)
    one_place, same, rows = _rows(values, axis)
    if not int(rows.sum()):
        return None
    several = rows & ~one_place & ~same
    return TargetShares(
        float((one_class & filled).sum() / filled.sum()), float(several.sum() / rows.sum()), int(rows.sum())
    )


def _rows(values: torch.Tensor, axis: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of the rows along an axis: which are a choice of one, which are the same all along, which have any."""
    count, total = (values > 1e-6).sum(axis), values.sum(axis)
    one = (count == 1) | ((total - 1).abs() < 1e-2)
    return one, values.amax(axis) - values.amin(axis) < 1e-3, count > 0


def _others(values: torch.Tensor, axis: int) -> list[int]:
    return [other for other in range(values.dim()) if other != axis]
