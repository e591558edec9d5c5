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
    input_keys = {ast.dump(lookup_node.slice) for lookup_node in inputs}
    different = [lookup_node for lookup_node in targets if ast.dump(lookup_node.slice) not in input_keys]
    return (
        Spot(method.scope.source, different[0])
        if inputs and different and len(different) == len(targets)
        else None
    )


def _lookups(method: Function, at: int) -> list[ast.Subscript]:
    """What is taken from attributes for the input (0) or target (1) of a sample."""
    lines = [line for value in sample_parts(method.node, at) for line in chain(method.node, value)]
    inner = [inner_node for line in lines for inner_node in ast.walk(line)]
    return [
        inner_node
        for inner_node in inner
        if isinstance(inner_node, ast.Subscript) and is_attribute_of_self(inner_node.value)
    ]


def _computed(data: Instance, method: Function, depth: int) -> Spot | None:
    node = method.node
    lines = [line for value in sample_parts(node, 0) for line in chain(node, value)]
    parameters = {argument.arg for argument in node.args.args[1:]}
    computing = [line for line in lines if _flattens(line)] or [
        line for line in lines if _fixed(line, parameters)
    ]
    if computing:
        return Spot(method.scope.source, computing[0])
    for line in lines:
        function = line.func if isinstance(line, ast.Call) else None
        inner = lookup(data.cls, function.attr) if isinstance(function, ast.Attribute) else None
        if depth and inner is not None and isinstance(inner[0], Function) and is_attribute_of_self(function):
            return _computed(data, inner[0], depth - 1)
    arithmetic = [line for line in lines if any(isinstance(inner, ast.BinOp) for inner in ast.walk(line))]
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


def _fixed(node: ast.expr, parameters: set[str]) -> bool:
    """Whether something is looked up without any argument of the method."""
    subscripts = [inner for inner in ast.walk(node) if isinstance(inner, ast.Subscript)]
    of_self = [
        subscript
        for subscript in subscripts
        if isinstance(subscript.value, ast.Attribute) and is_attribute_of_self(subscript.value)
    ]
    return any(
        not names(subscript.slice) and not isinstance(subscript.slice, ast.Slice) for subscript in of_self
    ) and not (names(node) & parameters)
