"""What the graph of a loss tells beyond its depth: layers with nothing between them, shapes that stretch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from traindx.observe.torch.graph import is_leaf, operation, setting, variable

_LAYERS = frozenset({"Addmm", "Mm", "Linear", "MkldnnLinear", "Convolution", "Baddbmm", "Bmm"})
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
_PAIRS, _NODES, _STEPS = 64, 5_000, 12
_ENDS = 6


def linear_pairs(grad_fn: Any, name_of: Callable[[torch.Tensor], str]) -> dict[str, Any]:
    """Layers, and the pairs of them with nothing but linear operations between."""
    layers = 0
    pairs: list[dict[str, Any]] = []
    for node in _nodes(grad_fn):
        if _weight(node) is None:
            continue
        layers += 1
        before = _layer_before(node)
        if before is not None and len(pairs) < _PAIRS:
            pairs.append(_pair(before, node, name_of))
    return {"layers": layers, "linear_pairs": pairs}


def _pair(first: Any, second: Any, name_of: Callable[[torch.Tensor], str]) -> dict[str, Any]:
    one, other = _weight(first), _weight(second)
    assert one is not None
    assert other is not None
    groups = [setting(node, "groups") for node in (first, second)]
    return {
        "first": name_of(one).rpartition(".")[0],
        "second": name_of(other).rpartition(".")[0],
        "sizes": [one.numel() // one.shape[0], one.shape[0], other.shape[0]],
        "groups": max([number for number in groups if isinstance(number, int)], default=1),
    }


def _layer_before(node: Any) -> Any:
    """The layer whose output comes in unchanged but for linear operations; None when there is none."""
    at = _signal(node)
    for _ in range(_STEPS):
        if at is None:
            return None
        if _weight(at) is not None:
            return at
        name = operation(at)
        inputs = _inputs(at)
        alone = len(inputs) == 1 and (name in _LINEAR or name in _SCALING)
        # Normalisation has its own weights beside the signal, a sum its bias.
        with_weights = name in _WEIGHTED and len(_signals(at)) == 1 < len(inputs)
        if not (alone or with_weights):
            return None
        at = _signal(at)
    return None


def _weight(node: Any) -> torch.Tensor | None:
    """The weight matrix of a layer; None for an operation that is none or whose weight is not trained."""
    if operation(node) not in _LAYERS:
        return None
    for source in _inputs(node):
        at = source
        for _ in range(4):
            if is_leaf(at):
                held = variable(at)
                if held is not None and held.dim() > 1:
                    return held
                break
            inner = _inputs(at)
            if operation(at) not in _CARRIERS or len(inner) != 1:
                break
            at = inner[0]
    return None


def _signals(node: Any) -> list[Any]:
    """Inputs that were computed, not weights."""
    return [one for one in _inputs(node) if not _only_weight(one)]


def _signal(node: Any) -> Any:
    found = _signals(node)
    return found[0] if len(found) == 1 else None


def _only_weight(node: Any) -> bool:
    for _ in range(4):
        if is_leaf(node):
            return True
        inner = _inputs(node)
        if operation(node) not in _CARRIERS or len(inner) != 1:
            return False
        node = inner[0]
    return False


def _inputs(node: Any) -> list[Any]:
    return [one for one, _ in node.next_functions if one is not None]


def _nodes(start: Any) -> Iterator[Any]:
    seen, todo = {start}, [start]
    while todo:
        node = todo.pop()
        yield node
        for one in _inputs(node):
            if one not in seen and len(seen) < _NODES and not is_leaf(one):
                seen.add(one)
                todo.append(one)


def end_operations(tensor: torch.Tensor) -> list[str]:
    """What was done to an output after its last layer, the last operation first."""
    at = tensor.grad_fn
    found: list[str] = []
    while at is not None and len(found) < _ENDS:
        if operation(at) not in _CARRIERS:
            found.append(operation(at))
        if operation(at) in _LAYERS:
            break
        inner = _inputs(at)
        at = inner[0] if len(inner) == 1 else None
    return found


def stretched(grad_fn: Any) -> list[dict[str, str]]:
    """Where, after the last layer, numbers of N samples become a table of N by N without being asked to."""
    found: list[dict[str, str]] = []
    todo, seen = [grad_fn], {grad_fn}
    while todo and len(seen) < 400:
        node = todo.pop()
        pairs = _stretch(node)
        if pairs is not None:
            found.append(pairs)
        if operation(node) in _LAYERS:
            continue
        for one in _inputs(node):
            if one not in seen and not is_leaf(one):
                seen.add(one)
                todo.append(one)
    return found[:4]


def _stretch(node: Any) -> dict[str, str] | None:
    """The other side must be data: what compares samples with each other has a gradient on both."""
    if operation(node) not in _STRETCHING or sum(one is not None for one, _ in node.next_functions) != 1:
        return None
    source, number = next((one, nr) for one, nr in node.next_functions if one is not None)
    if is_leaf(source) or operation(source) == "Unsqueeze":
        return None
    made, given = _shape(node, 0), _shape(source, number)
    if made is None or given is None or len(made) != 2 or made[0] != made[1] or made[0] < 2:
        return None
    size = made[0]
    if given not in ((size, 1), (size,), (1, size)):
        return None
    return {"operation": operation(node), "from": _text(given), "to": _text(made)}


def _shape(node: Any, number: int) -> tuple[int, ...] | None:
    about = getattr(node, "_input_metadata", None)
    return tuple(about[number].shape) if about and number < len(about) else None


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(str(size) for size in shape)
