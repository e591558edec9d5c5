"""What JAX made of a step that trains, read where it lies: shapes that are stretched to each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MOST = 20_000
_COMPARES = ("sub", "squared_difference")


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
