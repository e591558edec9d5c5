"""The structure of a model from the graph of its loss: consecutive layers, skip connections, broadcasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from traindx.observe.torch.graph import is_leaf, operation, setting, variable

_LAYERS = frozenset({"Addmm", "Mm", "Linear", "MkldnnLinear", "Convolution", "Baddbmm", "Bmm"})
# Layers as they count for the depth of a model: products of two activations (attention) do not.
_DEEP_LAYERS = frozenset(
    {"Addmm", "Mm", "Linear", "MkldnnLinear", "Convolution", "MkldnnRnnLayer", "CudnnRnn"}
)
# Operations that only pass a weight or a signal on.
_CARRIERS = frozenset(
    "T Transpose Permute View UnsafeView ReshapeAlias Reshape Expand Unsqueeze Squeeze ToCopy Clone Alias "
    "Slice Select Narrow Contiguous".split()
)
# Linear in what comes in: they do not part two layers.
_LINEAR = _CARRIERS | frozenset(
    "Neg Mean Sum NativeDropout NativeBatchNorm CudnnBatchNorm AvgPool1D AvgPool2D AvgPool3D "
    "AdaptiveAvgPool2D MkldnnAdaptiveAvgPool2D ConstantPadNd UpsampleNearest2D UpsampleBilinear2D".split()
)
# With data that differ from sample to sample, a sum is more than linear layers in a row; a mask is not.
_SCALING = frozenset({"Mul", "Div"})
_WEIGHTED = frozenset({"NativeBatchNorm", "CudnnBatchNorm", "Add"})
_STRETCHING = frozenset({"Mul", "Div", "Add", "Sub", "Rsub"})
_MAX_PAIRS, _MAX_STEPS, _MAX_ENDS, _MAX_STRETCHES = 64, 12, 6, 4
# How many nodes are searched: of the whole graph, for pairs, after the last layer, on the sides of a sum.
_WHOLE, _FOR_PAIRS, _NEAR = 20_000, 5_000, 400


def linear_pairs(grad_fn: Any, name_of: Callable[[torch.Tensor], str]) -> dict[str, Any]:
    """Layers, and the pairs of them with nothing but linear operations between."""
    layers = 0
    pairs: list[dict[str, Any]] = []
    for node in _nodes(grad_fn, limit=_FOR_PAIRS):
        if _weight(node) is None:
            continue
        layers += 1
        previous = _layer_before(node)
        if previous is not None and len(pairs) < _MAX_PAIRS:
            pairs.append(_pair(previous, node, name_of))
    return {"layers": layers, "linear_pairs": pairs}


def residuals(grad_fn: Any) -> int:
    """Sums of two branches that come from one place, around a layer: no bias, no sum of losses."""
    return sum(operation(node) == "Add" and _joins(node) for node in _nodes(grad_fn))


def depth(grad_fn: Any) -> int:
    """Layers with weights on the longest way from the loss to an input."""
    deepest: dict[Any, int] = {}
    waiting = [grad_fn]
    while waiting:
        node = waiting[-1]
        sources = [source for source in _computed(node) if source not in deepest]
        if node in deepest or len(deepest) > _WHOLE:
            waiting.pop()
        elif sources:
            waiting += sources
        else:
            below = max((deepest[source] for source in _computed(node)), default=0)
            deepest[node] = below + (operation(node) in _DEEP_LAYERS)
            waiting.pop()
    return deepest.get(grad_fn, 0)


def end_operations(tensor: torch.Tensor) -> list[str]:
    """What was done to an output after its last layer, the last operation first."""
    node = tensor.grad_fn
    operations: list[str] = []
    while node is not None and len(operations) < _MAX_ENDS:
        if operation(node) not in _CARRIERS:
            operations.append(operation(node))
        if operation(node) in _LAYERS:
            break
        inputs = _inputs(node)
        node = inputs[0] if len(inputs) == 1 else None
    return operations


def stretched(grad_fn: Any) -> list[dict[str, str]]:
    """Where, after the last layer, numbers of N samples become a table of N by N without being asked to."""
    stretches = map(_stretch, _nodes(grad_fn, limit=_NEAR, stops=_LAYERS))
    return [stretch for stretch in stretches if stretch is not None][:_MAX_STRETCHES]


# Walking back from the loss.


def _inputs(node: Any) -> list[Any]:
    return [source for source, _ in node.next_functions if source is not None]


def _computed(node: Any) -> list[Any]:
    """Inputs that are no leaves."""
    return [source for source in _inputs(node) if not is_leaf(source)]


def _nodes(*starts: Any, limit: int = _WHOLE, stops: frozenset[str] = frozenset()) -> Iterator[Any]:
    """All nodes behind some, themselves among them, but none behind an operation that stops."""
    visited, waiting = set(starts), list(starts)
    while waiting:
        node = waiting.pop()
        yield node
        for source in _computed(node) if operation(node) not in stops else ():
            if source not in visited and len(visited) < limit:
                visited.add(source)
                waiting.append(source)


def _shape(node: Any, number: int = 0) -> tuple[int, ...] | None:
    """The shape of a result, which is known without the result itself."""
    metadata = getattr(node, "_input_metadata", None)
    return tuple(metadata[number].shape) if metadata and number < len(metadata) else None


# Layers and what is between them.


def _pair(first: Any, second: Any, name_of: Callable[[torch.Tensor], str]) -> dict[str, Any]:
    first_weight, second_weight = _weight(first), _weight(second)
    assert first_weight is not None
    assert second_weight is not None
    groups = [setting(node, "groups") for node in (first, second)]
    return {
        "first": name_of(first_weight).rpartition(".")[0],
        "second": name_of(second_weight).rpartition(".")[0],
        "sizes": [
            first_weight.numel() // first_weight.shape[0],
            first_weight.shape[0],
            second_weight.shape[0],
        ],
        "groups": max([number for number in groups if isinstance(number, int)], default=1),
    }


def _layer_before(node: Any) -> Any:
    """The layer whose output comes in unchanged but for linear operations; None when there is none."""
    at = _signal(node)
    for _ in range(_MAX_STEPS):
        if at is None or _weight(at) is not None:
            return at
        name, inputs = operation(at), _inputs(at)
        alone = len(inputs) == 1 and (name in _LINEAR or name in _SCALING)
        # Normalisation has its own weights next to the signal, a sum its bias.
        with_weights = name in _WEIGHTED and len(_signals(at)) == 1 < len(inputs)
        if not (alone or with_weights):
            return None
        at = _signal(at)
    return None


def _weight(node: Any) -> torch.Tensor | None:
    """The weight matrix of a layer; None for an operation that is none or whose weight is not trained."""
    if operation(node) not in _LAYERS:
        return None
    weights = (variable(leaf) for source in _inputs(node) if (leaf := _carried_leaf(source)) is not None)
    return next((weight for weight in weights if weight is not None and weight.dim() > 1), None)


def _carried_leaf(node: Any) -> Any:
    """The leaf whose parameter a node passes on; None when it was computed."""
    for _ in range(4):
        if is_leaf(node):
            return node
        inputs = _inputs(node)
        if operation(node) not in _CARRIERS or len(inputs) != 1:
            return None
        node = inputs[0]
    return None


def _signals(node: Any) -> list[Any]:
    """Inputs that were computed, not weights."""
    return [source for source in _inputs(node) if _carried_leaf(source) is None]


def _signal(node: Any) -> Any:
    signals = _signals(node)
    return signals[0] if len(signals) == 1 else None


def _joins(node: Any) -> bool:
    """Whether the two sides of a sum meet again further back, with a layer on the way of one of them."""
    sides, shape = _computed(node), _shape(node)
    is_sum_of_losses = shape is not None and all(size == 1 for size in shape)
    if len(sides) != 2 or is_sum_of_losses:
        return False
    visited = [{sides[0]}, {sides[1]}]
    edges = [[sides[0]], [sides[1]]]
    while visited[0].isdisjoint(visited[1]):
        if not (edges[0] or edges[1]) or len(visited[0]) + len(visited[1]) > _NEAR:
            return False
        for side, edge in zip(visited, edges, strict=True):
            new = {source for member in edge for source in _computed(member)} - side
            side |= new
            edge[:] = new
    behind = set(_nodes(*(visited[0] & visited[1]), limit=_NEAR))
    return any(operation(member) in _DEEP_LAYERS for member in (visited[0] | visited[1]) - behind)


def _stretch(node: Any) -> dict[str, str] | None:
    """The other side must be data: what compares samples with each other has a gradient on both."""
    sources = [(source, number) for source, number in node.next_functions if source is not None]
    if operation(node) not in _STRETCHING or len(sources) != 1:
        return None
    source, number = sources[0]
    if is_leaf(source) or operation(source) == "Unsqueeze":
        return None
    result, operand_shape = _shape(node), _shape(source, number)
    if result is None or operand_shape is None or len(result) != 2 or result[0] != result[1] or result[0] < 2:
        return None
    size = result[0]
    if operand_shape not in ((size, 1), (size,), (1, size)):
        return None
    texts = ["x".join(map(str, shape)) for shape in (operand_shape, result)]
    return {"operation": operation(node), "from": texts[0], "to": texts[1]}
