"""Predictions and targets brought to the same shape wherever they are compared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.core.facts import facts
from traindx.core.nouns import Place
from traindx.evidence.detectors._script.columns import form
from traindx.evidence.detectors._script.words import loss_of
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.value_sources import anything, behind, is_predicted
from traindx.source.flow import parametric
from traindx.source.training import Training
from traindx.source.values import Const, Made, Spot, Value, options

_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss poisson_nll_loss".split())
_OPERATIONS = {
    "Sub": ("Sub", "sub", "subtract", "rsub"),
    "Rsub": ("Sub", "sub", "rsub"),
    "Add": ("Add", "add"),
    "Mul": ("Mult", "mul", "multiply"),
    "Div": ("Div", "div", "true_divide", "divide"),
    "Pow": ("Pow", "pow"),
}
_DEEP = 24


def shapes(job: Job, place: Place | None) -> str:
    """The flat side becomes a column, in training and validation alike."""
    descriptions = []
    for spot, prediction, target in _compared(job.training):
        prediction_form, target_form = form(prediction), form(target)
        if prediction_form and target_form and prediction_form != target_form:
            descriptions.append(_column(job, spot, 1 if prediction_form == "column" else 0))
    return sentence(descriptions or _in_own_loss(job, place) or _recorded(job, place))


def _compared(training: Training) -> Iterator[tuple[Spot, Value, Value]]:
    """Where predictions meet targets: losses, and differences in what is backpropagated or summed up."""
    for loss in training.losses:
        if loss.kind in _LOSSES and loss.target is not None:
            yield loss.event.spot, loss.given, loss.target
    for value in behind(anything(training.trace)):
        if isinstance(value, Made) and (value.kind, value.name) == ("operator", "Sub"):
            left, right = value.args
            if value.spot is not None and is_predicted(left) != is_predicted(right):
                yield value.spot, left, right


def _column(job: Job, spot: Spot, flat: int) -> str:
    node = spot.node
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    if isinstance(node, ast.Call) and not node.keywords:
        sides = node.args[:2]
    if len(sides) < 2:
        raise Uncertain("Bring predictions and targets to the same shape here: (N, 1) and (N, 1).", spot)
    return f"{job.draft.follow(sides[flat], '.unsqueeze(1)')} in line {spot.line}"


def _recorded(job: Job, place: Place | None) -> list[str]:
    """Shapes that the recording shows, where the loss is called on one line."""
    losses = [loss for loss in facts(job.facts.get("losses")) if loss.get("broadcasts")]
    recorded = [(str(loss.get("output_shape")), str(loss.get("target_shape"))) for loss in losses]
    calls = {id(x.event.spot.node): x for x in job.training.losses if x.kind in _LOSSES}
    if len(recorded) != 1 or not calls:
        raise Uncertain("Bring predictions and targets to the same shape: (N, 1) and (N, 1).", place)
    output, target = (shape.split("x") for shape in recorded[0])
    if len(output) == 2 and output[1] == "1" and len(target) == 1:
        flat = 1
    elif len(target) == 2 and target[1] == "1" and len(output) == 1:
        flat = 0
    else:
        raise Uncertain(
            f"Bring predictions ({recorded[0][0]}) and targets ({recorded[0][1]}) to the same shape.", place
        )
    return [_column(job, call.event.spot, flat) for call in calls.values()]


@dataclass(frozen=True)
class Meeting:
    """Where a prediction and a target meet in one operation: `predicted` is the side of the prediction."""

    spot: Spot
    prediction: Value
    target: Value
    sides: tuple[ast.expr, ast.expr]
    predicted: int


def _in_own_loss(job: Job, place: Place | None) -> list[str]:
    """In a loss written by hand the target takes the shape of the prediction, wherever the two meet."""
    broadcast = _broadcast(job)
    if broadcast is None:
        return []
    operations, flat = broadcast
    names = tuple(name for operation in operations for name in _OPERATIONS.get(operation, ()))
    trained = _possible(_meetings([loss_of(event) for event in job.training.backwards], names), flat)
    if len(trained) not in (1, len(operations)):
        places = ", ".join(f"line {meeting.spot.line}" for meeting in trained)
        places_text = f" ({places})" if places else ""
        raise Uncertain(
            f"Bring predictions and targets to the same shape where they are compared{places_text}: "
            f"the predictions are {'(N,), the targets (N, 1)' if flat else '(N, 1), the targets (N,)'}.",
            trained[0].spot if trained else place,
        )
    nodes, operations_since = (
        {id(meeting.spot.node) for meeting in trained},
        {_path(meeting.prediction) for meeting in trained},
    )
    validated = [
        meeting
        for meeting in _possible(_meetings(anything(job.training.trace), names), flat)
        if id(meeting.spot.node) not in nodes and _path(meeting.prediction) in operations_since
    ]
    return [_reshaped(job, meeting, flat) for meeting in [*trained, *validated]]


def _broadcast(job: Job) -> tuple[list[str], bool] | None:
    """The operations that the recording shows to broadcast, and whether the predictions are flat."""
    graph = job.facts.get("graph")
    recorded = facts(graph.get("stretched")) if isinstance(graph, dict) else ()
    inputs = {str(fact.get("from")) for fact in recorded}
    shape = inputs.pop().split("x") if len(inputs) == 1 else []
    if len(shape) not in (1, 2) or (len(shape) == 2 and shape[1] != "1"):
        return None
    return [str(fact.get("operation")) for fact in recorded], len(shape) == 1


def _meetings(roots: list[Value], names: tuple[str, ...]) -> Iterator[Meeting]:
    """Operations of some kind with a prediction on one side only, each place once."""
    nodes = set[int]()
    for value in behind(roots):
        if isinstance(value, Made) and value.short in names and value.spot is not None:
            meeting = _meeting(value, value.spot)
            if meeting is not None and id(meeting.spot.node) not in nodes:
                nodes.add(id(meeting.spot.node))
                yield meeting


def _meeting(value: Made, spot: Spot) -> Meeting | None:
    operands = [
        *([value.receiver] if value.kind == "method" and value.receiver is not None else []),
        *value.args,
    ]
    sides = _operands(spot.node)
    if len(operands) != 2 or sides is None:
        return None
    predicted = [is_predicted(operand) for operand in operands]
    target = operands[1 - predicted.index(True)] if any(predicted) else None
    if all(predicted) or target is None or all(isinstance(option, Const) for option in options(target)):
        return None
    side = predicted.index(True)
    return Meeting(spot, operands[side], target, sides, side)


def _operands(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two operands as they are written."""
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    if len(node.args) == 2:
        return node.args[0], node.args[1]
    return (node.func.value, node.args[0]) if len(node.args) == 1 else None


def _possible(meetings: Iterator[Meeting], flat: bool) -> list[Meeting]:
    """Without those whose shapes the script shows to be others."""
    prediction, target = ("flat", "column") if flat else ("column", "flat")
    return [m for m in meetings if form(m.prediction) in ("", prediction) and form(m.target) in ("", target)]


def _path(value: Value | None) -> tuple[str, ...]:
    """What was done to a tensor since the last layer that has parameters, from the last back to the first."""
    path: list[str] = []
    while isinstance(value, Made) and len(path) < _DEEP:
        layer = parametric(value)
        if layer is not None:
            return (*path, f"layer {id(layer)}")
        path.append(f"{value.kind} {value.name}")
        first = value.args[0] if value.args else None
        value = value.receiver if value.kind in ("method", "attribute", "item") else first
    return tuple(path)


def _reshaped(job: Job, meeting: Meeting, flat: bool) -> str:
    target = meeting.sides[1 - meeting.predicted]
    prediction = meeting.sides[meeting.predicted]
    if isinstance(prediction, ast.Name | ast.Attribute):
        method = f".view_as({job.draft.text(prediction)})"
    else:
        method = ".squeeze(1)" if flat else ".unsqueeze(1)"
    return f"{job.draft.follow(target, method)} in line {meeting.spot.line}"


EDITS = {"match_shapes": (shapes,)}
