"""A loss written by hand in which the recording shows predictions stretched against targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.core.nouns import Place
from traindx.evidence.detectors._script.columns import form
from traindx.evidence.detectors._script.words import loss_of
from traindx.evidence.inside import facts
from traindx.experiment.edit.job import Job, at
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_sources import anything, behind
from traindx.source.flow import parametric, reach
from traindx.source.values import Const, Made, Spot, Value, options

_MEETING = {
    "Sub": ("Sub", "sub", "subtract", "rsub"),
    "Rsub": ("Sub", "sub", "rsub"),
    "Add": ("Add", "add"),
    "Mul": ("Mult", "mul", "multiply"),
    "Div": ("Div", "div", "true_divide", "divide"),
    "Pow": ("Pow", "pow"),
}
_DEEP = 24


@dataclass(frozen=True)
class Meeting:
    """Where a prediction and a target meet in one operation: `predicted` is the side of the prediction."""

    spot: Spot
    prediction: Value
    target: Value
    sides: tuple[ast.expr, ast.expr]
    predicted: int


def in_own_loss(job: Job, place: Place | None) -> list[str]:
    """The target takes the shape of the prediction, in training and wherever the same is done besides."""
    told = _stretches(job)
    if told is None:
        return []
    operations, flat = told
    names = tuple(name for one in operations for name in _MEETING.get(one, ()))
    roots = [loss_of(event) for event in job.training.backwards]
    trained = _told_apart(list(_meetings(roots, names)), flat)
    if len(trained) not in (1, len(operations)):
        places = ", ".join(f"line {one.spot.line}" for one in trained)
        where = f" ({places})" if places else ""
        raise Uncertain(
            f"Bring predictions and targets to the same shape where they are compared{where}: "
            f"the predictions are {'(N,), the targets (N, 1)' if flat else '(N, 1), the targets (N,)'}.",
            at(trained[0].spot) if trained else place,
        )
    known, alike = {id(one.spot.node) for one in trained}, {_way(one.prediction) for one in trained}
    tested = [
        one
        for one in _told_apart(list(_meetings(anything(job.training.trace), names)), flat)
        if id(one.spot.node) not in known and _way(one.prediction) in alike
    ]
    return [_reshaped(job, one, flat) for one in [*trained, *tested]]


def _stretches(job: Job) -> tuple[list[str], bool] | None:
    """The operations that the recording shows to be stretched, and whether the predictions are flat."""
    graph = job.facts.get("graph")
    told = facts(graph.get("stretched")) if isinstance(graph, dict) else ()
    given = {str(one.get("from")) for one in told}
    shape = given.pop().split("x") if len(given) == 1 else []
    if len(shape) not in (1, 2) or (len(shape) == 2 and shape[1] != "1"):
        return None
    return [str(one.get("operation")) for one in told], len(shape) == 1


def _meetings(roots: list[Value], names: tuple[str, ...]) -> Iterator[Meeting]:
    """Operations of some kind with a prediction on one side only, each place once."""
    found = set[int]()
    for value in behind(roots):
        if isinstance(value, Made) and value.short in names and value.spot is not None:
            met = _meeting(value, value.spot)
            if met is not None and id(met.spot.node) not in found:
                found.add(id(met.spot.node))
                yield met


def _meeting(value: Made, spot: Spot) -> Meeting | None:
    both = [*([value.receiver] if value.kind == "method" and value.receiver is not None else []), *value.args]
    sides = _sides(spot.node)
    if len(both) != 2 or sides is None:
        return None
    ours = [bool(reach(one).alive or reach(one).cut) for one in both]
    if ours[0] == ours[1]:
        return None
    at_side = ours.index(True)
    target = both[1 - at_side]
    if all(isinstance(one, Const) for one in options(target)):
        return None
    return Meeting(spot, both[at_side], target, sides, at_side)


def _sides(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two operands as they are written."""
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    if len(node.args) == 2:
        return node.args[0], node.args[1]
    return (node.func.value, node.args[0]) if len(node.args) == 1 else None


def _told_apart(met: list[Meeting], flat: bool) -> list[Meeting]:
    """Without those whose shapes the script shows to be other ones."""
    wanted = ("flat", "column") if flat else ("column", "flat")
    return [
        one for one in met if form(one.prediction) in ("", wanted[0]) and form(one.target) in ("", wanted[1])
    ]


def _way(value: Value | None) -> tuple[str, ...]:
    """What was done to a tensor since the last layer that has parameters, from the last back to the first."""
    found: list[str] = []
    while isinstance(value, Made) and len(found) < _DEEP:
        layer = parametric(value)
        if layer is not None:
            return (*found, f"layer {id(layer)}")
        found.append(f"{value.kind} {value.name}")
        first = value.args[0] if value.args else None
        value = value.receiver if value.kind in ("method", "attribute", "item") else first
    return tuple(found)


def _reshaped(job: Job, met: Meeting, flat: bool) -> str:
    source, target = met.spot.source, met.sides[1 - met.predicted]
    prediction = met.sides[met.predicted]
    if isinstance(prediction, ast.Name | ast.Attribute):
        shaped = f".view_as({job.draft.text(source, prediction)})"
    else:
        shaped = ".squeeze(1)" if flat else ".unsqueeze(1)"
    return f"{job.draft.follow(source, target, shaped)} in line {met.spot.line}"
