"""Lines of single samples: where a data set of the script computes an input."""

from __future__ import annotations

import ast

from traindx.source.anchors_of_data import dataset
from traindx.source.attributes import lookup
from traindx.source.returned import chain, is_attribute_of_self, names, sample_parts, sampler
from traindx.source.training import Training
from traindx.source.values import Function, Instance, Spot

_FLAT = frozenset(
    "zeros zeros_like ones_like full_like clamp clip round floor byte int expand expand_as repeat".split()
)


def sample(training: Training) -> Spot | None:
    """The line of a dataset that computes an input, rather than looks it up."""
    data = dataset(training)
    method = sampler(data) if isinstance(data, Instance) else None
    return _computed(data, method, depth=3) if method is not None and isinstance(data, Instance) else None


def pairing(training: Training) -> Spot | None:
    """Where a dataset looks up a target by another index than the input."""
    data = dataset(training)
    method = sampler(data) if isinstance(data, Instance) else None
    if method is None:
        return None
    inputs, targets = (_lookups(method, at) for at in (0, 1))
    asked = {ast.dump(one.slice) for one in inputs}
    other = [one for one in targets if ast.dump(one.slice) not in asked]
    return Spot(method.scope.source, other[0]) if inputs and other and len(other) == len(targets) else None


def _lookups(method: Function, at: int) -> list[ast.Subscript]:
    """What is taken from attributes for the input (0) or target (1) of a sample."""
    lines = [line for value in sample_parts(method.node, at) for line in chain(method.node, value)]
    inner = [one for line in lines for one in ast.walk(line)]
    return [one for one in inner if isinstance(one, ast.Subscript) and is_attribute_of_self(one.value)]


def _computed(data: Instance, method: Function, depth: int) -> Spot | None:
    node = method.node
    lines = [line for value in sample_parts(node, 0) for line in chain(node, value)]
    own = {one.arg for one in node.args.args[1:]}
    computing = [one for one in lines if _flattens(one)] or [one for one in lines if _fixed(one, own)]
    if computing:
        return Spot(method.scope.source, computing[0])
    for one in lines:
        called = one.func if isinstance(one, ast.Call) else None
        inner = lookup(data.cls, called.attr) if isinstance(called, ast.Attribute) else None
        if depth and inner is not None and isinstance(inner[0], Function) and is_attribute_of_self(called):
            return _computed(data, inner[0], depth - 1)
    arithmetic = [one for one in lines if any(isinstance(inner, ast.BinOp) for inner in ast.walk(one))]
    return Spot(method.scope.source, arithmetic[0]) if arithmetic else None


def _flattens(node: ast.expr) -> bool:
    """Whether an expression gives the same for different things: whole parts, limits, fillings."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.FloorDiv):
            return True
        sides = (
            (inner.left, inner.right)
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult)
            else ()
        )
        if any(isinstance(side, ast.Constant) and side.value == 0 for side in sides):
            return True
        if isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            if name in _FLAT:
                return True
    return False


def _fixed(node: ast.expr, own: set[str]) -> bool:
    """Whether something is looked up without any argument of the method."""
    subscripts = [one for one in ast.walk(node) if isinstance(one, ast.Subscript)]
    of_self = [
        one for one in subscripts if isinstance(one.value, ast.Attribute) and is_attribute_of_self(one.value)
    ]
    return any(not names(one.slice) and not isinstance(one.slice, ast.Slice) for one in of_self) and not (
        names(node) & own
    )
