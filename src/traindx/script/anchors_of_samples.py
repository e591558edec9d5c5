"""Lines of single samples: where a data set of the script computes an input."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.script.anchors_of_data import dataset
from traindx.script.attributes import lookup
from traindx.script.training import Training
from traindx.script.values import Function, Instance, Spot

_INPUT_KEYS = re.compile(
    r"^(x|inputs?|images?|pixel_values|features?|input_ids|data|signal|audio)$", re.IGNORECASE
)
_FLAT = frozenset(
    "zeros zeros_like ones_like full_like clamp clip round floor byte int expand expand_as repeat".split()
)


def sample(training: Training) -> Spot | None:
    """The line of a dataset that computes an input, rather than looks it up."""
    data = dataset(training)
    found = (
        lookup(data.cls, "__getitem__") or lookup(data.cls, "__iter__")
        if isinstance(data, Instance)
        else None
    )
    if found is None or not isinstance(data, Instance) or not isinstance(found[0], Function):
        return None
    return _computed(data, found[0], depth=3)


def _computed(data: Instance, method: Function, depth: int) -> Spot | None:
    node = method.node
    lines = [one for given in _given(node) for one in _chain(node, given)]
    own = {one.arg for one in node.args.args[1:]}
    computing = [one for one in lines if _flattens(one)] or [one for one in lines if _fixed(one, own)]
    if computing:
        return Spot(method.scope.source, computing[0])
    for one in lines:
        called = one.func if isinstance(one, ast.Call) else None
        inner = lookup(data.cls, called.attr) if isinstance(called, ast.Attribute) else None
        if depth and inner is not None and isinstance(inner[0], Function) and _own(called):
            return _computed(data, inner[0], depth - 1)
    arithmetic = [one for one in lines if any(isinstance(inner, ast.BinOp) for inner in ast.walk(one))]
    return Spot(method.scope.source, arithmetic[0]) if arithmetic else None


def _own(called: ast.expr | None) -> bool:
    return (
        isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self"
    )


def _given(node: ast.AST) -> Iterator[ast.expr]:
    """The input of each sample that a method returns or yields."""
    for one in ast.walk(node):
        value = one.value if isinstance(one, ast.Return | ast.Yield) else None
        if isinstance(value, ast.Tuple | ast.List) and value.elts:
            yield value.elts[0]
        elif isinstance(value, ast.Dict):
            named = zip(value.keys, value.values, strict=True)
            yield from (
                given
                for key, given in named
                if isinstance(key, ast.Constant) and _INPUT_KEYS.match(str(key.value))
            )
        elif value is not None:
            yield value


def _chain(node: ast.AST, given: ast.expr) -> list[ast.expr]:
    """An expression and what the names in it were given in the same function, the last first."""
    found, names = [given], _names(given)
    written = [one for one in ast.walk(node) if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    for one in sorted(written, key=lambda one: -one.lineno):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        if one.value is not None and any(_names(target) & names for target in targets):
            found.append(one.value)
            names |= _names(one.value)
    return found


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"self", "torch", "np"}


def _flattens(node: ast.expr) -> bool:
    """Whether an expression gives the same for different things: whole parts, limits, fillings."""
    for one in ast.walk(node):
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.FloorDiv):
            return True
        sides = (one.left, one.right) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult) else ()
        if any(isinstance(side, ast.Constant) and side.value == 0 for side in sides):
            return True
        if isinstance(one, ast.Call):
            name = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
            if name in _FLAT:
                return True
    return False


def _fixed(node: ast.expr, own: set[str]) -> bool:
    """Whether something is looked up with nothing of what the method was asked for."""
    looked = [one for one in ast.walk(node) if isinstance(one, ast.Subscript)]
    held = [one for one in looked if isinstance(one.value, ast.Attribute) and _own(one.value)]
    return any(not _names(one.slice) and not isinstance(one.slice, ast.Slice) for one in held) and not (
        _names(node) & own
    )
