"""What JAX made of a step that trains, as it remembers it: stretched shapes, a loss written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

_MOST = 20_000
_COMPARES = ("sub", "squared_difference")
_CHAIN = 8
_POWERS = ("integer_pow", "square")
_REDUCES = ("reduce_sum", "convert_element_type", "reshape", "squeeze")
_SHAPES = ("broadcast_in_dim", "reshape", "squeeze", "convert_element_type")


def stretched(jaxpr: Any) -> list[dict[str, str]]:
    """Where numbers of N samples, as (N, 1) and (N,), become a table of N by N without being asked to."""
    found: list[dict[str, str]] = []
    for inner in _levels(jaxpr):
        made = {id(var): equation for equation in inner.eqns for var in equation.outvars}
        for equation in inner.eqns:
            if equation.primitive.name not in _COMPARES:
                continue
            sources = sorted((_source(var, made) for var in equation.invars), key=len)
            if [len(one) for one in sources] == [1, 2] and _is_table(equation, sources):
                size = sources[0][0]
                found.append({"operation": "Sub", "from": f"{size}x1", "to": f"{size}x{size}"})
    return found[:4]


def compared(jaxpr: Any, loss: int) -> tuple[str, int, tuple[int, ...]] | None:
    """The kind of a loss that is a mean of differences, the argument it compares with, the output's shape."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    made = {id(var): equation for equation in inner.eqns for var in equation.outvars}
    given = {id(var): place for place, var in enumerate(inner.invars)}
    var, kind, divisor = inner.outvars[loss], "", 1.0
    for _ in range(_CHAIN):
        equation = made.get(id(var))
        if equation is None:
            return None
        name = equation.primitive.name
        if name in _POWERS and equation.params.get("y", 2) == 2:
            kind = "mse"
        elif name == "abs":
            kind = "mae"
        elif name == "sub" and kind:
            mean = divisor == prod(equation.outvars[0].aval.shape)
            return _sides(kind, equation, made, given) if mean else None
        elif name == "div" and hasattr(equation.invars[1], "val"):
            divisor *= float(equation.invars[1].val)
        elif name not in _REDUCES:
            return None
        var = equation.invars[0]
    return None


def depends(jaxpr: Any, result: int, arguments: set[int]) -> bool:
    """Whether a result is computed from any of these arguments."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    needed = {id(inner.outvars[result])}
    for equation in reversed(inner.eqns):
        if not needed.isdisjoint(id(var) for var in equation.outvars):
            needed.update(id(var) for var in equation.invars)
    return any(id(var) in needed for place, var in enumerate(inner.invars) if place in arguments)


def _sides(
    kind: str, equation: Any, made: dict[int, Any], given: dict[int, int]
) -> tuple[str, int, tuple[int, ...]] | None:
    for one, other in (equation.invars, equation.invars[::-1]):
        source = one
        while (before := made.get(id(source))) is not None and before.primitive.name in _SHAPES:
            source = before.invars[0]
        if id(source) in given and id(other) not in given and hasattr(other, "aval"):
            return kind, given[id(source)], tuple(other.aval.shape)
    return None


def _is_table(equation: Any, sources: list[tuple[int, ...]]) -> bool:
    size = sources[0][0]
    shape = tuple(equation.outvars[0].aval.shape)
    return size > 1 and sources[1] == (size, 1) and shape == (size, size)


def _source(var: Any, made: dict[int, Any]) -> tuple[int, ...]:
    """The shape of a value before it was stretched; empty where the script asked for its dimensions."""
    equation = made.get(id(var))
    while equation is not None and equation.primitive.name in ("broadcast_in_dim", "reshape"):
        before = equation.invars[0]
        given, shape = (tuple(one.aval.shape) for one in (before, equation.outvars[0]))
        if shape == (*given, 1):  # x[:, None]
            return ()
        var, equation = before, made.get(id(before))
    return tuple(getattr(var.aval, "shape", ()))


def _levels(jaxpr: Any) -> Iterator[Any]:
    """A jaxpr and those inside of it."""
    waiting, seen = [getattr(jaxpr, "jaxpr", jaxpr)], 0
    while waiting and seen < _MOST:
        inner = waiting.pop()
        yield inner
        seen += len(inner.eqns)
        for equation in inner.eqns:
            for value in equation.params.values():
                for one in value if isinstance(value, tuple | list) else (value,):
                    one = getattr(one, "jaxpr", one)
                    if hasattr(one, "eqns"):
                        waiting.append(one)
