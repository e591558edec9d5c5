"""Predictions and targets brought to the same shape wherever they are compared."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.core.nouns import Place
from traindx.evidence.detectors._script.columns import form
from traindx.evidence.inside import facts
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.differences import in_own_loss
from traindx.experiment.edit.job import Job, at
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.value_sources import anything, behind
from traindx.source.flow import reach
from traindx.source.training import Training
from traindx.source.values import Made, Spot, Value

_LOSSES = frozenset("mse_loss l1_loss smooth_l1_loss huber_loss poisson_nll_loss".split())


def shapes(job: Job, place: Place | None) -> str:
    """The flat side made a column, in training and validation alike."""
    told = []
    for spot, given, target in _compared(job.training):
        one, other = form(given), form(target)
        if one and other and one != other:
            told.append(_column(job, spot, 1 if one == "column" else 0))
    told = told or in_own_loss(job, place) or _measured(job, place)
    return "; ".join(dict.fromkeys(told)) + "."


def _compared(training: Training) -> Iterator[tuple[Spot, Value, Value]]:
    """Where predictions meet targets: losses, and differences in what is backpropagated or summed up."""
    for loss in training.losses:
        if loss.kind in _LOSSES and loss.target is not None:
            yield loss.event.spot, loss.given, loss.target
    for value in behind(anything(training.trace)):
        if (
            isinstance(value, Made)
            and value.kind == "operator"
            and value.name == "Sub"
            and value.spot is not None
        ):
            predicted = [bool(reach(one).alive) or bool(reach(one).cut) for one in value.args]
            if predicted[0] != predicted[1]:
                yield value.spot, value.args[0], value.args[1]


def _sides(spot: Spot) -> list[ast.expr]:
    node = spot.node
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return list(node.args[:2]) if isinstance(node, ast.Call) and not node.keywords else []


def _column(job: Job, spot: Spot, flat: int) -> str:
    sides = _sides(spot)
    if len(sides) < 2:
        raise Uncertain("Bring predictions and targets to the same shape here: (N, 1) and (N, 1).", at(spot))
    text = job.draft.text(spot.source, sides[flat])
    simple = isinstance(sides[flat], ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    new = f"{text}.unsqueeze(1)" if simple else f"({text}).unsqueeze(1)"
    job.draft.replace(spot.source, sides[flat], new)
    return f"{new} in line {spot.line}"


def _measured(job: Job, place: Place | None) -> list[str]:
    """Shapes that the recording shows, where the loss is called on one line."""
    losses = [one for one in facts(job.facts.get("losses")) if one.get("broadcasts")]
    shown = [(str(one.get("output_shape")), str(one.get("target_shape"))) for one in losses]
    calls = {id(x.event.spot.node): x for x in job.training.losses if x.kind in _LOSSES}
    if len(shown) != 1 or not calls:
        raise Uncertain("Bring predictions and targets to the same shape: (N, 1) and (N, 1).", place)
    given, target = (one.split("x") for one in shown[0])
    if len(given) == 2 and given[1] == "1" and len(target) == 1:
        flat = 1
    elif len(target) == 2 and target[1] == "1" and len(given) == 1:
        flat = 0
    else:
        raise Uncertain(
            f"Bring predictions ({shown[0][0]}) and targets ({shown[0][1]}) to the same shape.", place
        )
    return [_column(job, one.event.spot, flat) for one in calls.values()]


MENDERS: dict[str, tuple[Mender, ...]] = {"match_shapes": (shapes,)}
