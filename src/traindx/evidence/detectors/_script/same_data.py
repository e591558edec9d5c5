"""Whether two values hold the same data, and whether two stretches of one tensor overlap."""

from __future__ import annotations

import ast

from traindx.evidence.detectors._script.orders import chain
from traindx.source.execution import Trace
from traindx.source.values import Const, Instance, ListValue, Made, Value

_PURE = frozenset(
    """
    TensorDataset tensor from_numpy as_tensor asarray array float long int astype to Tensor FloatTensor
    LongTensor reshape view unsqueeze squeeze MNIST FashionMNIST CIFAR10 CIFAR100 KMNIST EMNIST ImageFolder
    """.split()
)


def alike(left: Value | None, right: Value | None, depth: int = 8) -> bool:
    """Whether two values are the same, or made of the same in the same way by what never differs."""
    if left is None or right is None or depth == 0:
        return left is right and left is not None
    if left is right:
        return True
    if isinstance(left, Const) and isinstance(right, Const):
        return left.value == right.value
    if isinstance(left, ListValue) and isinstance(right, ListValue) and not (left.open or right.open):
        pairs = zip(left.items, right.items, strict=False)
        return len(left.items) == len(right.items) and all(alike(a, b, depth - 1) for a, b in pairs)
    if isinstance(left, Instance) and isinstance(right, Instance):
        return _alike_objects(left, right, depth - 1)
    if isinstance(left, Made) and isinstance(right, Made):
        return _alike_made(left, right, depth - 1)
    return False


def _alike_objects(left: Instance, right: Instance, depth: int) -> bool:
    mine, yours = left.attributes, right.attributes
    if left.cls is not right.cls or not mine or mine.keys() != yours.keys():
        return False
    return all(alike(mine[name], yours[name], depth) for name in mine)


def _alike_made(left: Made, right: Made, depth: int) -> bool:
    if (left.kind, left.name) != (right.kind, right.name) or left.open or right.open:
        return False
    if left.kind == "item":
        return _subscript(left) == _subscript(right) != "" and alike(left.receiver, right.receiver, depth)
    if left.kind not in ("call", "method") or left.short not in _PURE:
        return False
    mine, yours = left.keywords, right.keywords
    if len(left.args) != len(right.args) or mine.keys() != yours.keys():
        return False
    if left.kind == "method" and not alike(left.receiver, right.receiver, depth):
        return False
    pairs = [*zip(left.args, right.args, strict=True), *((mine[name], yours[name]) for name in mine)]
    matches = [alike(a, b, depth) or _named_alike(a, b) for a, b in pairs]
    return bool(matches) and all(matches)


def _named_alike(a: Value, b: Value) -> bool:
    """`dtype=torch.float32` twice."""
    names = [getattr(value, "name", None) for value in (a, b)]
    return type(a) is type(b) and not isinstance(a, Made) and bool(names[0]) and names[0] == names[1]


def _subscript(value: Made) -> str:
    node = value.spot.node if value.spot is not None else None
    return ast.unparse(node.slice) if isinstance(node, ast.Subscript) else ""


def data_of(value: Value) -> Value:
    """What a batch was taken from: the tensor behind indices, but not behind plain stretches."""
    for _ in range(6):
        node = value.spot.node if isinstance(value, Made) and value.spot is not None else None
        picked = isinstance(value, Made) and value.kind == "item" and isinstance(node, ast.Subscript)
        if not picked or not isinstance(value, Made) or value.receiver is None:
            return value
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and not value_in_loop(node):
            return value
        value = value.receiver
    return value


def value_in_loop(node: ast.Subscript) -> bool:
    """Whether a stretch moves with a counter: `x[i:i + size]`."""
    part = node.slice
    return isinstance(part, ast.Slice) and part.lower is not None and part.upper is not None


def overlap(trace: Trace, first: Value, second: Value) -> bool:
    """Whether two stretches of one tensor share rows, where their ends are plain numbers."""
    left, right = (_stretch(trace, value) for value in (first, second))
    if left is None or right is None or left[0] is not right[0]:
        return False
    return left[1] < right[2] and right[1] < left[2]


def _stretch(trace: Trace, value: Value) -> tuple[Value, float, float] | None:
    for step in chain(value):
        node = step.spot.node if step.spot is not None else None
        if step.kind == "item" and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            ends = [_end(trace, node.slice.lower, 0.0), _end(trace, node.slice.upper, float("inf"))]
            plain = node.slice.step is None and step.receiver is not None
            if plain and step.receiver is not None and ends[0] is not None and ends[1] is not None:
                return step.receiver, ends[0], ends[1]
            return None
    return None


def _end(trace: Trace, node: ast.expr | None, default: float) -> float | None:
    """The end of a stretch: a number, or a name that only ever is one number; never from behind."""
    if node is None:
        return default
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value >= 0:
        return float(node.value)
    if isinstance(node, ast.Name):
        bound = [binding.value for binding in trace.bindings if binding.name == node.id]
        ends = {value.value for value in bound if isinstance(value, Const) and isinstance(value.value, int)}
        if len(ends) == 1 and all(isinstance(value, Const) for value in bound):
            return float(ends.pop())
    return None
