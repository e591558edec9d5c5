"""The random orders that data were put in or drawn by."""

from __future__ import annotations

import ast

from traindx.source.execution import CallEvent
from traindx.source.training import Training
from traindx.source.values import Const, Made, Value, number, parents

_ORDERS = frozenset("randperm permutation permuted".split())
_DRAWS = frozenset("randint choice integers multinomial".split())
_CONVERTS = frozenset(
    """
    tensor from_numpy as_tensor asarray array FloatTensor LongTensor Tensor float long int astype to cuda cpu
    numpy reshape view squeeze unsqueeze flatten values double half type clone copy contiguous
    """.split()
)
_MOST = 4_000


def ancestors(value: Value) -> list[Value]:
    """Everything a value was made of, itself first."""
    values_by_id: dict[int, Value] = {}
    waiting = [value]
    while waiting and len(values_by_id) < _MOST:
        at = waiting.pop()
        if id(at) not in values_by_id:
            values_by_id[id(at)] = at
            waiting += parents(at)
    return list(values_by_id.values())


def is_order(value: Value, *, draws: bool = False) -> bool:
    """Whether a value is a random order, or with `draws` a random choice, of indices."""
    if not isinstance(value, Made) or value.kind not in ("call", "method"):
        return False
    return value.short in _ORDERS or (draws and value.short in _DRAWS)


def chain(value: Value) -> list[Made]:
    """The steps from a tensor back to its data: indexing and conversions only."""
    steps: list[Made] = []
    for _ in range(30):
        if not isinstance(value, Made):
            break
        steps.append(value)
        inner: Value | None = None
        if value.kind in ("item", "attribute") or (value.kind == "method" and value.name in _CONVERTS):
            inner = value.receiver
        elif value.kind in ("call", "method") and (value.short in _CONVERTS or value.short in _ORDERS):
            inner = value.args[0] if value.args else None
        if inner is None:
            break
        value = inner
    return steps


def orders(value: Value, *, draws: bool = False) -> dict[int, Made]:
    """The random orders that the rows of a tensor went through."""
    values_by_id: dict[int, Made] = {}
    for step in chain(value):
        if step.kind == "item" and step.args and not _by_columns(step):
            keys = [key for key in ancestors(step.args[0]) if is_order(key, draws=draws)]
            values_by_id.update({id(key): key for key in keys if isinstance(key, Made)})
        elif is_order(step) and step.args and number(step.args[0]) is None and not _is_size(step.args[0]):
            values_by_id[id(step)] = step
    return values_by_id


def _is_size(value: Value) -> bool:
    return isinstance(value, Const) or (
        isinstance(value, Made) and value.name in ("len", "size", "shape", "[]")
    )


def _by_columns(step: Made) -> bool:
    node = step.spot.node if step.spot is not None else None
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)


def indexed(value: Value) -> bool:
    """Whether a tensor is a stretch or a choice of the rows of another."""
    return any(
        step.kind == "item" and step.args and not isinstance(step.args[0], Const) and not _by_columns(step)
        for step in chain(value)
    )


def shuffles_in_place(training: Training) -> list[CallEvent]:
    """`np.random.shuffle(x)`, `rng.shuffle(x)`, `random.shuffle(x)`."""
    calls = training.trace.named("numpy.random.shuffle", "random.shuffle")
    return [e for e in [*calls, *training.trace.methods("shuffle")] if len(e.value.args) == 1]
