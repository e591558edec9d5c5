"""Logarithms, roots and divisions kept away from zero; every operation inside of its domain."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traindx.core.nouns import Place
from traindx.evidence.detectors._script.words import loss_of
from traindx.experiment.edit.guards import is_guarded, put_guard
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_sources import anything, behind, is_predicted
from traindx.source.domains import DOMAINS, names_of, word_of
from traindx.source.roles import operation
from traindx.source.script import Source
from traindx.source.values import Made, Spot, Value, number

_LINED = frozenset("log log2 log10 sqrt rsqrt".split())
_OPERATORS = {"power": ("Pow",), "division": ("Div",)}
_POWERS = frozenset({"Pow", "pow"})
_DIVISIONS = frozenset("Div div divide true_divide".split())
# In half precision a smaller number is lost when it is added to one.
_MARGINS = {"float16": 1e-3, "bfloat16": 1e-2}


@dataclass(frozen=True)
class UnstableOperation:
    """An operation of the script that the recording names, and its argument as it is written."""

    name: str
    spot: Spot
    inner: ast.expr


def counted(job: Job, place: Place | None) -> str:
    """Where the targets go through `log1p`, too, they are never negative: nor need predictions be."""
    places = [unstable for unstable in _unstable(job) if unstable.name == "log1p"]
    if not places or not _of_data(job, "log1p"):
        raise Uncertain(_words(job), place)
    return sentence(_guard_each(job, places, least="0.0"))


def recorded(job: Job, place: Place | None) -> str:
    """The operation that gave the first NaN or Inf of the recording, wherever the model's output meets it."""
    return sentence(_guard_each(job, _unstable(job)), _words(job), place)


def guard(job: Job, place: Place | None) -> str:
    """A small number under the logarithm, root or fraction that can reach zero."""
    if _unstable(job):
        raise Uncertain(_words(job), place)
    places = [finding.places[0] for finding in findings(job, "script_unguarded_math")]
    if place is not None and place.line is not None:
        places = [p for p in places if (p.file, p.line) == (place.file, place.line)] or places or [place]
    descriptions = []
    for location in places:
        source = job.source_at(location)
        if source is not None and location.line is not None:
            descriptions += _guarded(job, source, location.line)
    return sentence(descriptions, _words(job), place)


def _words(job: Job) -> str:
    first = _first_bad(job)[0]
    if first:
        return f"Clamp the input of the operation that broke ({first}) to where it is finite."
    return "Keep the argument of the logarithm, root or division away from zero."


def _guarded(job: Job, source: Source, line: int) -> list[str]:
    descriptions = []
    names = names_of(_first_bad(job)[0])
    for node in ast.walk(source.tree):
        if getattr(node, "lineno", 0) != line:
            continue
        if isinstance(node, ast.Call):
            descriptions += _call(job, node, names)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_norm(node.right):
            text = job.draft.text(node.right)
            job.draft.replace(node.right, f"({text} + 1e-8)")
            descriptions.append(f"1e-8 is added to the divisor in line {line}")
    return descriptions


def _is_norm(node: ast.expr) -> bool:
    return receiver(node) is not None and last_name(node) in ("norm", "std", "var")


def _call(job: Job, node: ast.Call, names: tuple[str, ...]) -> list[str]:
    """`log(p)` -> `log(p.clamp_min(1e-7))`, `sqrt(s)` -> `sqrt(s + 1e-8)`."""
    name, owner = last_name(node), receiver(node)
    if owner is None or name not in _LINED or (names and name not in names):
        return []
    torch = isinstance(owner, ast.Name) and owner.id in ("torch", "F", "th")
    if len(node.args) > 1 or node.keywords or (node.args and not torch):
        return []
    inner = node.args[0] if node.args else owner
    if is_guarded(job.draft.text(inner)):
        raise Uncertain("This is guarded already: check how large its guard is.", node)
    new = put_guard(job.draft, inner, name)
    return [f"{name} of {new} in line {node.lineno}"]


def _first_bad(job: Job) -> tuple[str, dict[str, object]]:
    """What the recording says of the first bad value: the operation, and the numbers that went in."""
    for event in job.run.events if job.run is not None else ():
        if event.kind == "nonfinite":
            numbers = event.data.get("numbers")
            return str(event.data.get("operation") or ""), dict(numbers) if isinstance(numbers, dict) else {}
    return "", {}


def _unstable(job: Job) -> list[UnstableOperation]:
    """Every place where the model's output goes through the operation that broke, unguarded."""
    recorded_name, _ = _first_bad(job)
    word = word_of(recorded_name)
    functions = [name for name in names_of(recorded_name) if word == "power" or name not in _POWERS]
    names = [name for name in (*functions, *_OPERATORS.get(word, ())) if name in DOMAINS]
    trained = _places([loss_of(event) for event in job.training.backwards], names) if names else []
    if not trained:
        return []
    everywhere = _places(anything(job.training.trace), [unstable.name for unstable in trained])
    every = {id(unstable.spot.node): unstable for unstable in [*trained, *everywhere]}
    return [unstable for unstable in every.values() if not is_guarded(job.draft.text(unstable.inner))]


def _of_data(job: Job, name: str) -> bool:
    """Whether the loss takes an operation of something that is no prediction, too."""
    return any(
        operation(value) == name and argument is not None and not is_predicted(argument)
        for value, argument, _ in _arguments([loss_of(event) for event in job.training.backwards])
    )


def _places(roots: Sequence[Value], names: Sequence[str]) -> list[UnstableOperation]:
    places: dict[int, UnstableOperation] = {}
    for value, argument, inner in _arguments(roots):
        name, spot = operation(value), value.spot
        if name in names and spot is not None and argument is not None and is_predicted(argument):
            places.setdefault(id(spot.node), UnstableOperation(name, spot, inner))
    return list(places.values())


def _arguments(roots: Sequence[Value]) -> Iterator[tuple[Made, Value | None, ast.expr]]:
    """Operations with the argument they break by: the divisor, the base of a power, else the only one."""
    for value in behind(roots):
        if isinstance(value, Made) and value.spot is not None:
            for argument, inner in _argument(value, value.spot.node):
                yield value, argument, inner


def _argument(value: Made, node: ast.AST) -> Iterator[tuple[Value | None, ast.expr]]:
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


def _guard_each(job: Job, places: Sequence[UnstableOperation], least: str = "") -> list[str]:
    """Every argument kept inside of its operation's domain; descriptions of the edits."""
    first, numbers = _first_bad(job)
    low, margin = numbers.get("min"), _MARGINS.get(str(numbers.get("dtype")))
    negative = "negative number" in first or "below" in first
    descriptions = []
    for unstable in places:
        signed = unstable.name in _DIVISIONS | {"reciprocal"} or first.startswith("negative power")
        if signed and not (isinstance(low, int | float) and low >= 0):
            raise Uncertain(
                f"Keep the divisor of line {unstable.spot.line} away from zero: it has both signs.",
                unstable.spot,
            )
        new = put_guard(job.draft, unstable.inner, unstable.name, margin=margin, below=negative, least=least)
        descriptions.append(f"{unstable.name.lower()} of {new} in line {unstable.spot.line}")
    return descriptions


EDITS = {"guard_math": (counted, recorded, guard)}
