"""Broken samples removed from every batch."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.keras import uses_keras
from traindx.experiment.edit.result import Uncertain
from traindx.source.execution import CallEvent, Loop
from traindx.source.roles import is_module
from traindx.source.values import Spot

# A limit that every number is under: only what is not finite is left out.
_ANY = 1e30


def drop_outliers(job: Job, values: Mapping[str, Scalar]) -> str:
    """Samples beyond the limit are removed: from each batch where loops get them, else from the datasets."""
    value = values.get("limit", _ANY)
    limit = float(value) if isinstance(value, int | float) else _ANY
    if uses_keras(job):
        raise Uncertain(f"Remove samples whose inputs are not finite or beyond {limit:g} before the fit.")
    calls = [
        event
        for event in job.training.trace.events
        if event.value.kind == "apply" and is_module(event.value.receiver) and event.loops
    ]
    loops = {id(loop.spot.node): loop.spot for event in calls if (loop := _batches(event)) is not None}
    batch_names = [_names(spot.node) for spot in loops.values()]
    if loops and all(batch_names) and all(_batches(event) is not None for event in calls):
        return _of_batches(job, list(loops.values()), limit)
    return _of_datasets(job, limit)


def _batches(event: CallEvent) -> Loop | None:
    """The statement that loops over batches around a call: the innermost loop with more than one name."""
    for loop in reversed(event.loops):
        node = loop.spot.node
        if isinstance(node, ast.For):
            if isinstance(node.target, ast.Tuple):
                return loop
        elif not isinstance(node, ast.While):
            return None
    return None


def _of_batches(job: Job, spots: list[Spot], limit: float) -> str:
    firsts = {spot.source.path: spot.node for spot in reversed(spots)}
    keeps = {path: job.fresh(node, "keep") for path, node in firsts.items()}
    for spot in spots:
        names, node, keep = _names(spot.node), spot.node, keeps[spot.source.path]
        assert isinstance(node, ast.For)
        job.draft.before(
            node.body[0],
            f"{keep} = {names[0]}.flatten(1).abs().amax(1) <= {limit:g}",
            f"{', '.join(names)} = {', '.join(f'{name}[{keep}]' for name in names)}",
        )
    return f"{_description(limit)} are removed in the loop of line {_lines(spot.line for spot in spots)}."


def _of_datasets(job: Job, limit: float) -> str:
    words = f"Remove samples whose inputs are not finite or beyond {limit:g}, where the batches are made."
    calls = list(dict.fromkeys(map(call_of, job.loaders())))
    if len({job.file(call).path for call in calls}) != 1:
        raise Uncertain(words)
    if any(not call.args for call in calls):
        raise Uncertain(words, calls[0])
    name = job.fresh(calls[0], "samples_within")
    subset = job.spelled(calls[0], "torch.utils.data.Subset")
    [top] = [ancestor for ancestor in job.ancestors(calls[0]) if isinstance(job.parent(ancestor), ast.Module)]
    assert isinstance(top, ast.stmt)
    job.draft.before(
        top,
        f"def {name}(dataset, limit):",
        "    good = [i for i in range(len(dataset)) if (abs(dataset[i][0]) <= limit).all()]",
        f"    return {subset}(dataset, good)",
        "",
        "",
    )
    for call in calls:
        job.draft.replace(call.args[0], f"{name}({job.draft.text(call.args[0])}, {limit:g})")
    lines = _lines(call.lineno for call in calls)
    return f"{_description(limit)} are removed from the datasets in line {lines}."


def _description(limit: float) -> str:
    return "Samples that are not finite" if limit >= _ANY else f"Samples beyond {limit:g}, or not finite,"


def _lines(numbers: Iterable[int]) -> str:
    return " and ".join(dict.fromkeys(map(str, numbers)))


def _names(node: ast.AST) -> list[str]:
    """The names of a batch: `for x, y in loader`, also behind `enumerate`."""
    parts = node.target.elts if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple) else []
    if len(parts) == 2 and isinstance(parts[1], ast.Tuple):
        parts = parts[1].elts
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) and len(names) > 1 else []
