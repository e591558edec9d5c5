"""Several processes: the wrapped model is the one that is called."""

from __future__ import annotations

import ast

from traindx.core.nouns import Place
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.nodes import last_name
from traindx.experiment.edit.result import Uncertain, sentence

_WRAPPERS = ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP")


def call_wrapper(job: Job, place: Place | None) -> str:
    """`net(x)` in the training loop becomes `model(x)`, where `model` wraps `net`."""
    loop = job.iteration().loop.spot.node
    for call in ast.walk(job.file(loop).tree):
        if not isinstance(call, ast.Call) or last_name(call) not in _WRAPPERS or not call.args:
            continue
        inner, outer = call.args[0], job.bound_name(call)
        if not isinstance(inner, ast.Name) or not isinstance(outer, ast.Name) or inner.id == outer.id:
            continue
        if job.function_of(call) is not job.function_of(loop):
            continue
        descriptions = _renamed(job, loop, inner.id, outer.id)
        if descriptions:
            return sentence(descriptions)
    raise Uncertain(
        "Call the wrapped model in the training loop: it averages the gradients over the ranks.", place
    )


def _renamed(job: Job, loop: ast.AST, inner: str, outer: str) -> list[str]:
    descriptions = []
    for node in ast.walk(loop):
        if not isinstance(node, ast.Call):
            continue
        bare = isinstance(node.func, ast.Name) and node.func.id == inner
        module = (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "module"
            and ast.unparse(node.func.value) == outer
        )
        if bare or module:
            job.draft.replace(node.func, outer)
            descriptions.append(f"{outer} instead of {ast.unparse(node.func)} in line {node.lineno}")
    return descriptions


EDITS = {"sync_ranks": (call_wrapper,)}
