"""What the samples of a data set of the script are made of, read from its `__getitem__`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.source.attributes import lookup
from traindx.source.values import Function, Instance

_INPUT_KEYS = re.compile(r"^(x|inputs?|images?|pixel_values|features?|input_ids|data|signal|audio)$", re.I)
_TARGET_KEYS = re.compile(r"^(y|targets?|labels?|classes|class)$", re.I)


def sampler(data: Instance) -> Function | None:
    """The method of a data set that gives a sample."""
    member = lookup(data.cls, "__getitem__") or lookup(data.cls, "__iter__")
    return member[0] if member is not None and isinstance(member[0], Function) else None


def stored(data: Instance, at: int) -> str:
    """The attribute that inputs (0) or targets (1) are looked up in."""
    method = sampler(data)
    if method is None:
        return ""
    lines = [line for value in sample_parts(method.node, at) for line in chain(method.node, value)]
    for node in (inner for line in lines for inner in ast.walk(line)):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and is_attribute_of_self(node.value)
        ):
            return node.value.attr
    return ""


def is_attribute_of_self(node: ast.expr | None) -> bool:
    """Whether an expression is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def sample_parts(node: ast.AST, at: int) -> Iterator[ast.expr]:
    """The input (0) or target (1) of each sample that a method returns or yields."""
    keys = (_INPUT_KEYS, _TARGET_KEYS)[at]
    for inner in ast.walk(node):
        value = inner.value if isinstance(inner, ast.Return | ast.Yield) else None
        if isinstance(value, ast.Tuple | ast.List):
            yield from value.elts[at : at + 1]
        elif isinstance(value, ast.Dict):
            for key, part in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and keys.match(str(key.value)):
                    yield part
        elif value is not None and at == 0:
            yield value


def chain(node: ast.AST, value: ast.expr) -> list[ast.expr]:
    """An expression and what the names in it were given in the same function, the last first."""
    expressions, used_names = [value], names(value)
    assignments = [
        assignment
        for assignment in ast.walk(node)
        if isinstance(assignment, ast.Assign | ast.AugAssign | ast.AnnAssign)
    ]
    for assignment in sorted(assignments, key=lambda assignment: -assignment.lineno):
        targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
        if assignment.value is not None and any(names(target) & used_names for target in targets):
            expressions.append(assignment.value)
            used_names |= names(assignment.value)
    return expressions


def names(node: ast.AST) -> set[str]:
    """The names in an expression, those of libraries aside."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} - {"self", "torch", "np"}
