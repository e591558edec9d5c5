"""What the samples of a data set of the script are made of, read from its `__getitem__`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.source.attributes import lookup
from traindx.source.values import Function, Instance

_INPUT_KEYS = re.compile(
    r"^(x|inputs?|images?|pixel_values|features?|input_ids|data|signal|audio)$", re.IGNORECASE
)
_TARGET_KEYS = re.compile(r"^(y|targets?|labels?|classes|class)$", re.IGNORECASE)


def sampler(data: Instance) -> Function | None:
    """The method of a data set that gives a sample."""
    found = lookup(data.cls, "__getitem__") or lookup(data.cls, "__iter__")
    return found[0] if found is not None and isinstance(found[0], Function) else None


def stored(data: Instance, at: int) -> str:
    """The attribute that inputs (0) or targets (1) are looked up in."""
    method = sampler(data)
    if method is None:
        return ""
    lines = [line for value in given(method.node, at) for line in chain(method.node, value)]
    for one in (inner for line in lines for inner in ast.walk(line)):
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Attribute) and of_self(one.value):
            return one.value.attr
    return ""


def of_self(called: ast.expr | None) -> bool:
    """Whether an expression is an attribute of `self`."""
    return (
        isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self"
    )


def given(node: ast.AST, at: int) -> Iterator[ast.expr]:
    """The input (0) or target (1) of each sample that a method returns or yields."""
    keys = (_INPUT_KEYS, _TARGET_KEYS)[at]
    for one in ast.walk(node):
        value = one.value if isinstance(one, ast.Return | ast.Yield) else None
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
    found, wanted = [value], names(value)
    written = [one for one in ast.walk(node) if isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    for one in sorted(written, key=lambda one: -one.lineno):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        if one.value is not None and any(names(target) & wanted for target in targets):
            found.append(one.value)
            wanted |= names(one.value)
    return found


def names(node: ast.AST) -> set[str]:
    """The names in an expression, those of libraries aside."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {"self", "torch", "np"}
