"""What the result of an operation is compared with in a loss: targets, laid out as that result is.

The result is followed through operations that keep each number by itself: logarithms, scales, views. Where
it meets numbers without a gradient of its own size, or one of its entries is picked, these are its targets.
Views in between are undone on them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from math import prod

import torch
from torch.autograd.graph import Node

from traindx.observe.torch.graph import Graph, inputs, operation, output_shape, setting
from traindx.observe.torch.saved import Saved

Sizes = tuple[int, ...]
Undo = Callable[[torch.Tensor], torch.Tensor]

_KEEPING = frozenset(
    "Add Sub Rsub Mul Div Neg Log Log2 Log1P Exp Pow Sqrt Abs Clamp ClampMin ClampMax ToCopy Clone Alias "
    "Where MaskedFill Nan2Num NanToNum".split()
)
_VIEWS = frozenset("View UnsafeView ReshapeAlias Reshape Squeeze Unsqueeze".split())
_COMPARING = frozenset("MseLoss SmoothL1Loss HuberLoss BinaryCrossEntropy KlDiv".split())
_SQUARED = frozenset({"Pow", "Abs", "Mul"})
_MOST, _LARGEST = 120, 2**26
_DIGITS = 4


class Targets:
    """The targets of one operation, a softmax."""

    def __init__(self, node: Node, graph: Graph) -> None:
        self.node = node
        self.graph = graph
        self.saved = Saved()
        self._above = graph.above(node) | {node}

    def found(self) -> Iterator[torch.Tensor]:
        """Each with the shape of the result, near to it first."""
        shape, seen = sizes_of(self.node), {self.node}
        if not shape or prod(shape) > _LARGEST:
            return
        # The operation, how to undo what was done up to it, and whether the numbers are still the result's.
        waiting: deque[tuple[Node, tuple[Undo, ...], bool]] = deque([(self.node, (), True)])
        while waiting and len(seen) < _MOST:
            at, undo, same = waiting.popleft()
            for user in self.graph.consumers[at]:
                target = self._target(user, at, same)
                if target is not None and target.shape == torch.Size(sizes_of(at)):
                    target = _undone(target.detach(), undo)
                    if tuple(target.shape) == shape:
                        yield target
                step = self._step(user, at)
                if step is not None and user not in seen:
                    seen.add(user)
                    waiting.append((user, (*undo, step), same and operation(user) not in _KEEPING))

    # Where it is compared.

    def _target(self, node: Node, at: Node, same: bool) -> torch.Tensor | None:
        name, shape = operation(node), sizes_of(at)
        sources = [source for source, _ in node.next_functions]
        if name == "Mul" and None in sources:
            return self.saved.read(node).get("other" if sources[0] is at else "self")
        if name in _COMPARING and sources[0] is at and sources[1:2] == [None]:
            return self.saved.read(node).get("target")
        if name in ("NllLoss", "NllLoss2D"):
            return self._classes(node, shape)
        if name == "Gather":
            index, dim = self.saved.read(node).get("index"), plain_dim(setting(node, "dim"), len(shape))
            return None if index is None or dim is None else _zeros(shape, index).scatter_(dim, index, 1)
        if name == "Index":
            return self._picked(node, shape)
        if name in ("Sub", "Rsub") and None in sources and same:
            return self._subtracted(node, at)
        return None

    def _classes(self, node: Node, shape: Sizes) -> torch.Tensor | None:
        target, ignored = self.saved.read(node).get("target"), setting(node, "ignore_index")
        if target is None or len(shape) < 2:
            return None
        kept = (target != ignored) & (target >= 0) & (target < shape[1])
        marks, chosen = kept.unsqueeze(1).to(torch.uint8), target.where(kept, 0).unsqueeze(1)
        return _zeros(shape, target).scatter_(1, chosen, marks)

    def _picked(self, node: Node, shape: Sizes) -> torch.Tensor | None:
        """`log_probabilities[arange(n), labels]`."""
        indices = self.saved.read(node)
        listed = [indices.get(f"indices[{number}]") for number in range(len(shape))]
        if sum(index is not None for index in listed) < 2:
            return None
        device = next(index for index in listed if index is not None)
        marks = _zeros(shape, device)
        places = tuple(slice(None) if index is None else index for index in listed)
        marks[places] = 1
        return marks

    def _subtracted(self, node: Node, at: Node) -> torch.Tensor | None:
        """From the difference, where it is squared or made absolute, and the result itself."""
        result = self.saved.read(self.node).get("result")
        if result is None or at is not self.node or operation(self.node) != "Softmax":
            return None
        for user in self.graph.consumers[node]:
            difference = self.saved.read(user).get("self") if operation(user) in _SQUARED else None
            if difference is not None and difference.shape == result.shape:
                positive = operation(node) == "Sub" and node.next_functions[0][0] is at
                target = result - difference if positive else result + difference
                return target.detach().round(decimals=_DIGITS)
        return None

    # What it passes through.

    def _step(self, node: Node, at: Node) -> Undo | None:
        """How to undo an operation; None for one that does more than to change or to move numbers."""
        name, before, after = operation(node), sizes_of(at), sizes_of(node)
        sources = [source for source, _ in inputs(node)]
        if name in _KEEPING:
            together = all(source in self._above or not prod(sizes_of(source)) > 1 for source in sources)
            return _as_it_is if before == after and together else None
        if len(sources) != 1 or not before:
            return None
        if name in _VIEWS:
            return lambda target: target.reshape(before)
        if name == "Permute":
            dims = setting(node, "dims")
            listed = [plain_dim(dim, len(before)) for dim in dims] if isinstance(dims, tuple | list) else []
            order = [listed.index(axis) for axis in range(len(before)) if axis in listed]
            return (lambda target: target.permute(order)) if len(order) == len(before) else None
        if name in ("Transpose", "T"):
            ends = (setting(node, "dim0"), setting(node, "dim1")) if name == "Transpose" else (0, 1)
            first, second = (plain_dim(end, len(before)) for end in ends)
            return None if first is None or second is None else lambda target: target.transpose(first, second)
        return _sliced(node, before, after) if name == "Slice" else None


def _sliced(node: Node, before: Sizes, after: Sizes) -> Undo | None:
    """Classes that are left out, the background mostly, have no targets."""
    dim, start = plain_dim(setting(node, "dim"), len(before)), setting(node, "start")
    if dim is None or len(after) != len(before) or setting(node, "step") != 1 or not isinstance(start, int):
        return None
    begin = start - 2**64 if start >= 2**63 else start
    begin = max(0, begin + before[dim] if begin < 0 else begin)
    if begin + after[dim] > before[dim] or after[dim] < 2:
        return None

    def undo(target: torch.Tensor) -> torch.Tensor:
        whole = target.new_zeros(before)
        whole.narrow(dim, begin, after[dim]).copy_(target)
        return whole

    return undo


def _as_it_is(target: torch.Tensor) -> torch.Tensor:
    return target


def _undone(target: torch.Tensor, undo: tuple[Undo, ...]) -> torch.Tensor:
    for step in reversed(undo):
        target = step(target)
    return target


def _zeros(shape: Sizes, like: torch.Tensor) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.uint8, device=like.device)


def sizes_of(node: Node, number: int = 0) -> Sizes:
    """The sizes of a result; none where they are not plain numbers."""
    metadata = getattr(node, "_input_metadata", None) or ()
    shape = output_shape(node) if not number else getattr(metadata[number], "shape", None)
    sizes = tuple(shape) if isinstance(shape, tuple | list) else ()
    return sizes if all(type(size) is int for size in sizes) else ()


def plain_dim(dim: object, dims: int) -> int | None:
    """An axis counted from the front: torch keeps negative ones as very large numbers."""
    if not isinstance(dim, int):
        return None
    dim = dim - 2**64 if dim >= 2**63 else dim
    dim = dim + dims if dim < 0 else dim
    return dim if 0 <= dim < dims else None
