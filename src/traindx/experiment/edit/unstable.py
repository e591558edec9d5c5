"""The operation that made the first NaN or Inf of a recording, as it stands in the script."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traindx.evidence.detectors._script.words import loss_of
from traindx.experiment.edit.guards import is_guarded, put_guard
from traindx.experiment.edit.job import Job, at
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_sources import anything, behind
from traindx.source.domains import DOMAINS, names_of, word_of
from traindx.source.flow import reach
from traindx.source.roles import operation
from traindx.source.values import Made, Spot, Value, number

_OPERATORS = {"power": ("Pow",), "division": ("Div",)}
_POWERS = frozenset({"Pow", "pow"})
_DIVISIONS = frozenset("Div div divide true_divide".split())
# In half precision a smaller number is lost beside one.
_MARGINS = {"float16": 1e-3, "bfloat16": 1e-2}


@dataclass(frozen=True)
class UnstableOperation:
    """An operation of the script that the recording names, and its argument as it is written."""

    name: str
    spot: Spot
    inner: ast.expr


def first_bad(job: Job) -> tuple[str, dict[str, object]]:
    """What the recording says of the first bad value: the operation, and the numbers that went in."""
    for event in job.run.events if job.run is not None else ():
        if event.kind == "nonfinite":
            numbers = event.data.get("numbers")
            return str(event.data.get("operation") or ""), dict(numbers) if isinstance(numbers, dict) else {}
    return "", {}


def broken(job: Job) -> list[UnstableOperation]:
    """Every place where the model's output goes through the operation that broke, unguarded."""
    told, _ = first_bad(job)
    word = word_of(told)
    called = [one for one in names_of(told) if word == "power" or one not in _POWERS]
    names = [one for one in (*called, *_OPERATORS.get(word, ())) if one in DOMAINS]
    if not names:
        return []
    trained = _places([loss_of(event) for event in job.training.backwards], names)
    if not trained:
        return []
    tested = _places(anything(job.training.trace), [one.name for one in trained])
    every = {id(one.spot.node): one for one in [*trained, *tested]}
    return [one for one in every.values() if not is_guarded(job.draft.text(one.spot.source, one.inner))]


def of_data(job: Job, name: str) -> bool:
    """Whether the loss takes an operation of something that is no prediction, besides."""
    for value in behind([loss_of(event) for event in job.training.backwards]):
        if operation(value) == name and isinstance(value, Made) and value.spot is not None:
            for given, _ in _argument(value, value.spot.node):
                if given is not None and not (reach(given).alive or reach(given).cut):
                    return True
    return False


def _places(roots: Sequence[Value], names: Sequence[str]) -> list[UnstableOperation]:
    found: dict[int, UnstableOperation] = {}
    for value in behind(roots):
        name = operation(value)
        if name in names and isinstance(value, Made) and value.spot is not None:
            for given, inner in _argument(value, value.spot.node):
                if given is not None and (reach(given).alive or reach(given).cut):
                    found.setdefault(id(value.spot.node), UnstableOperation(name, value.spot, inner))
    return list(found.values())


def _argument(value: Made, node: ast.AST) -> Iterator[tuple[Value | None, ast.expr]]:
    """What an operation breaks by: the divisor, the base of a power, else its argument."""
    divides = operation(value) in _DIVISIONS
    if operation(value) in _POWERS:
        exponent = number(value.args[-1]) if value.args else None
        if exponent is not None and exponent == round(exponent) and exponent >= 0:
            return
    if isinstance(node, ast.BinOp) and len(value.args) == 2:
        yield (value.args[1], node.right) if divides else (value.args[0], node.left)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and value.kind == "method":
        if divides and node.args:
            yield value.args[0], node.args[0]
        elif not divides:
            yield value.receiver, node.func.value
    elif isinstance(node, ast.Call) and value.kind == "call" and len(node.args) > divides:
        yield value.args[int(divides)], node.args[int(divides)]


def guard_each(job: Job, places: Sequence[UnstableOperation], least: str = "") -> list[str]:
    """Every argument kept inside of its operation's domain; what was done, in words."""
    told, numbers = first_bad(job)
    low, kind = numbers.get("min"), str(numbers.get("dtype"))
    negative = "negative number" in told or "below" in told
    found = []
    for one in places:
        signed = one.name in _DIVISIONS | {"reciprocal"} or told.startswith("negative power")
        if signed and not (isinstance(low, int | float) and low >= 0):
            raise Uncertain(
                f"Keep the divisor of line {one.spot.line} away from zero: it has both signs.", at(one.spot)
            )
        margin = _MARGINS.get(kind)
        new = put_guard(
            job.draft, one.spot.source, one.inner, one.name, margin=margin, below=negative, least=least
        )
        found.append(f"{one.name.lower()} of {new} in line {one.spot.line}")
    return found
