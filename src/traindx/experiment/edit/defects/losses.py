"""The loss: one that measures the task, with the right sign and order."""

from __future__ import annotations

import ast

from traindx.core.nouns import Finding, Place
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.result import Uncertain
from traindx.source.roles import LossCall
from traindx.source.script import Source

_CASTS = frozenset("float double to view reshape unsqueeze expand expand_as long type squeeze".split())


def loss(job: Job, place: Place | None) -> str:
    for mend in (_similarity, _swapped, _classes, _summed):
        told = mend(job)
        if told:
            return told
    raise Uncertain("Use the loss that measures the task here.", place)


def _similarity(job: Job) -> str:
    """A similarity that is made smaller becomes a distance: one minus it."""
    seen = findings(job, "script_similarity_minimised")
    if not seen:
        return ""
    source, nodes = _at(job, seen[0])
    for node in nodes:
        value = node.value if isinstance(node, ast.Return | ast.Assign) else None
        if value is not None and "similarity" in job.draft.text(source, value):
            plain = isinstance(value, ast.Call | ast.Name | ast.Attribute)
            text = job.draft.text(source, value)
            job.draft.replace(source, value, f"1 - {text}" if plain else f"1 - ({text})")
            return f"One minus the similarity in line {node.lineno}: what falls is the distance."
    raise Uncertain("Make one minus the similarity smaller: " + seen[0].text, seen[0].places[0])


def _at(job: Job, finding: Finding) -> tuple[Source, list[ast.stmt]]:
    place = finding.places[0]
    source = next(one for one in job.script.sources if one.path == place.file)
    nodes = [n for n in ast.walk(source.tree) if isinstance(n, ast.stmt) and n.lineno == place.line]
    return source, nodes


def _swapped(job: Job) -> str:
    seen = findings(job, "script_loss_arguments_swapped")
    lines = {one.places[0].line for one in seen}
    told = []
    for call in {id(x.event.spot.node): x for x in job.training.losses}.values():
        node = call.event.spot.node
        if call.event.spot.line in lines and isinstance(node, ast.Call) and len(node.args) >= 2:
            source = call.event.spot.source
            first, second = (job.draft.text(source, one) for one in node.args[:2])
            job.draft.replace(source, node.args[0], second)
            job.draft.replace(source, node.args[1], first)
            told.append(f"predictions first, then targets, in line {node.lineno}")
    return "; ".join(told)


def _classes(job: Job) -> str:
    """Squared error on class numbers, spread over all outputs, becomes cross entropy."""
    told = []
    for call in {id(x.event.spot.node): x for x in job.training.losses}.values():
        if call.kind in ("mse_loss", "l1_loss", "smooth_l1_loss"):
            told += _by_class(job, call)
    return "; ".join(dict.fromkeys(told))


def _by_class(job: Job, call: LossCall) -> list[str]:
    source, node = call_of(call.event.value)
    labels = node.args[1] if len(node.args) == 2 and not node.keywords else None
    stretched = False
    while (
        isinstance(labels, ast.Call) and isinstance(labels.func, ast.Attribute) and labels.func.attr in _CASTS
    ):
        stretched |= labels.func.attr in ("expand", "expand_as")
        labels = labels.func.value
    if not stretched or not isinstance(labels, ast.Name | ast.Attribute):
        return []
    name = spelled(job.draft, source, "torch.nn.functional.cross_entropy")
    given = job.draft.text(source, node.args[0])
    job.draft.replace(source, node, f"{name}({given}, {job.draft.text(source, labels)})")
    return [f"cross entropy on the class numbers in line {node.lineno}"]


def _summed(job: Job) -> str:
    """A loss summed over the batch becomes its mean."""
    lines = {one.places[0].line for one in findings(job, "script_sum_reduction")}
    told = []
    for call in {id(x.setup): x for x in job.training.losses}.values():
        given = call.setup.keywords.get("reduction")
        inside = given is not None and given.spot is not None and isinstance(given.spot.node, ast.Constant)
        here = call.event.spot.line in lines or (
            call.setup.spot is not None and call.setup.spot.line in lines
        )
        if here and inside and given is not None and given.spot is not None:
            job.draft.replace(given.spot.source, given.spot.node, '"mean"')
            told.append(f"the mean instead of the sum in line {given.spot.line}")
    return "; ".join(dict.fromkeys(told))


MENDERS: dict[str, tuple[Mender, ...]] = {"fix_loss": (loss,)}
