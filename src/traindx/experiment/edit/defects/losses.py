"""The loss: one that measures the task, with the right sign and order."""

from __future__ import annotations

import ast

from traindx.core.nouns import Place
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.nodes import last_name, receiver
from traindx.experiment.edit.result import Uncertain
from traindx.source.roles import LossCall

_CASTS = frozenset("float double to view reshape unsqueeze expand expand_as long type squeeze".split())


def loss(job: Job, place: Place | None) -> str:
    for edit in (_similarity, _swapped, _classes, _summed):
        description = edit(job)
        if description:
            return description
    raise Uncertain("Use the loss that measures the task here.", place)


def _similarity(job: Job) -> str:
    """A similarity that is made smaller becomes a distance: one minus it."""
    minimised = findings(job, "script_similarity_minimised")
    if not minimised:
        return ""
    node = job.statement_at(minimised[0].places[0])
    value = node.value if isinstance(node, ast.Return | ast.Assign) else None
    text = job.draft.text(value) if value is not None else ""
    if value is None or node is None or "similarity" not in text:
        raise Uncertain("Minimise one minus the similarity: " + minimised[0].text, minimised[0].places[0])
    plain = isinstance(value, ast.Call | ast.Name | ast.Attribute)
    job.draft.replace(value, f"1 - {text}" if plain else f"1 - ({text})")
    return f"One minus the similarity in line {node.lineno}: the distance is minimised."


def _swapped(job: Job) -> str:
    lines = {finding.places[0].line for finding in findings(job, "script_loss_arguments_swapped")}
    descriptions = []
    for call in {id(x.event.spot.node): x for x in job.training.losses}.values():
        node = call.event.spot.node
        if call.event.spot.line in lines and isinstance(node, ast.Call) and len(node.args) >= 2:
            first, second = (job.draft.text(argument) for argument in node.args[:2])
            job.draft.replace(node.args[0], second)
            job.draft.replace(node.args[1], first)
            descriptions.append(f"predictions first, then targets, in line {node.lineno}")
    return "; ".join(descriptions)


def _classes(job: Job) -> str:
    """Squared error on class numbers, spread over all outputs, becomes cross entropy."""
    descriptions = []
    for call in {id(x.event.spot.node): x for x in job.training.losses}.values():
        if call.kind in ("mse_loss", "l1_loss", "smooth_l1_loss"):
            descriptions += _by_class(job, call)
    return "; ".join(dict.fromkeys(descriptions))


def _by_class(job: Job, call: LossCall) -> list[str]:
    node = call_of(call.event.value)
    labels = node.args[1] if len(node.args) == 2 and not node.keywords else None
    stretched = False
    while (inner := receiver(labels)) is not None and last_name(labels) in _CASTS:
        stretched |= last_name(labels) in ("expand", "expand_as")
        labels = inner
    if not stretched or not isinstance(labels, ast.Name | ast.Attribute):
        return []
    name = job.spelled(node, "torch.nn.functional.cross_entropy")
    predictions = job.draft.text(node.args[0])
    job.draft.replace(node, f"{name}({predictions}, {job.draft.text(labels)})")
    return [f"cross entropy on the class numbers in line {node.lineno}"]


def _summed(job: Job) -> str:
    """A loss summed over the batch becomes its mean."""
    lines = {finding.places[0].line for finding in findings(job, "script_sum_reduction")}
    descriptions = []
    for call in {id(x.setup): x for x in job.training.losses}.values():
        reduction = call.setup.keywords.get("reduction")
        inside = (
            reduction is not None
            and reduction.spot is not None
            and isinstance(reduction.spot.node, ast.Constant)
        )
        on_line = call.event.spot.line in lines or (
            call.setup.spot is not None and call.setup.spot.line in lines
        )
        if on_line and inside and reduction is not None and reduction.spot is not None:
            job.draft.replace(reduction.spot.node, '"mean"')
            descriptions.append(f"the mean instead of the sum in line {reduction.spot.line}")
    return "; ".join(dict.fromkeys(descriptions))


EDITS = {"fix_loss": (loss,)}
