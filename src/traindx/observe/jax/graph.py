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
    stretches: list[dict[str, str]] = []
    for inner in _levels(jaxpr):
        producers = {id(var): equation for equation in inner.eqns for var in equation.outvars}
        for equation in inner.eqns:
            if equation.primitive.name not in _COMPARES:
                continue
            sources = sorted((_source(var, producers) for var in equation.invars), key=len)
            if [len(shape) for shape in sources] == [1, 2] and _is_table(equation, sources):
                size = sources[0][0]
                stretches.append({"operation": "Sub", "from": f"{size}x1", "to": f"{size}x{size}"})
    return stretches[:4]


def compared(jaxpr: Any, loss: int) -> tuple[str, int, tuple[int, ...]] | None:
    """The kind of a loss that is a mean of differences, the argument it compares with, the output's shape."""
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    producers = {id(var): equation for equation in inner.eqns for var in equation.outvars}
    argument_places = {id(var): place for place, var in enumerate(inner.invars)}
    var, kind, divisor = inner.outvars[loss], "", 1.0
    for _ in range(_CHAIN):
        equation = producers.get(id(var))
        if equation is None:
            return None
        name = equation.primitive.name
        if name in _POWERS and equation.params.get("y", 2) == 2:
            kind = "mse"
        elif name == "abs":
            kind = "mae"
        elif name == "sub" and kind:
            mean = divisor == prod(equation.outvars[0].aval.shape)
            return _sides(kind, equation, producers, argument_places) if mean else None
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
    kind: str, equation: Any, producers: dict[int, Any], argument_places: dict[int, int]
) -> tuple[str, int, tuple[int, ...]] | None:
    for target, output in (equation.invars, equation.invars[::-1]):
        source = target
        while (producer := producers.get(id(source))) is not None and producer.primitive.name in _SHAPES:
            source = producer.invars[0]
        if id(source) in argument_places and id(output) not in argument_places and hasattr(output, "aval"):
            return kind, argument_places[id(source)], tuple(output.aval.shape)
    return None


def _is_table(equation: Any, sources: list[tuple[int, ...]]) -> bool:
    size = sources[0][0]
    shape = tuple(equation.outvars[0].aval.shape)
    return size > 1 and sources[1] == (size, 1) and shape == (size, size)


def _source(var: Any, producers: dict[int, Any]) -> tuple[int, ...]:
    """The shape of a value before it was stretched; empty where the script asked for its dimensions."""
    equation = producers.get(id(var))
    while equation is not None and equation.primitive.name in ("broadcast_in_dim", "reshape"):
        operand = equation.invars[0]
        source_shape, shape = (tuple(value.aval.shape) for value in (operand, equation.outvars[0]))
        if shape == (*source_shape, 1):  # x[:, None]
            return ()
        var, equation = operand, producers.get(id(operand))
    return tuple(getattr(var.aval, "shape", ()))


def _levels(jaxpr: Any) -> Iterator[Any]:
    """A jaxpr and those inside of it."""
    waiting, equation_count = [getattr(jaxpr, "jaxpr", jaxpr)], 0
    while waiting and equation_count < _MOST:
        inner = waiting.pop()
        yield inner
        equation_count += len(inner.eqns)
        for equation in inner.eqns:
            for value in equation.params.values():
                for part in value if isinstance(value, tuple | list) else (value,):
                    part = getattr(part, "jaxpr", part)
                    if hasattr(part, "eqns"):
                        waiting.append(part)
