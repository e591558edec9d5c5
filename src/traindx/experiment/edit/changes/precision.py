"""Numbers of more bits: no half precision at all, or bfloat16 in the place of float16."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from traindx.core.nouns import Scalar
from traindx.experiment.edit.changes import Maker
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.result import Uncertain
from traindx.source.execution import Event
from traindx.source.roles import is_scaler
from traindx.source.script import Source
from traindx.source.values import Named, Spot

_HALF = {"torch.float16", "torch.half"}
_LOW = _HALF | {"torch.bfloat16"}


def full_precision(job: Job, values: Mapping[str, Scalar]) -> str:
    """autocast and scaler switched off; half() becomes float(); half types become float32."""
    del values
    told = _switch_off(job) + _casts(job, ("half", "bfloat16"))
    told += [
        _retyped(job, source, node, "float32")
        for source, node, event in _types(job, _LOW)
        if not _is_autocast(event)
    ]
    if not told:
        raise Uncertain("Nothing that computes in half precision can be told in the script.")
    return "; ".join(dict.fromkeys(told)) + "."


def bf16_autocast(job: Job, values: Mapping[str, Scalar]) -> str:
    """The type of autocast is bfloat16, and nothing is scaled."""
    del values
    casts = _autocasts(job)
    if not casts:
        raise Uncertain(
            "The script has no autocast: compute the loss under `torch.autocast(..., dtype=torch.bfloat16)`."
        )
    told = []
    for event in casts:
        source, call = call_of(event.value)
        given = next((k.value for k in call.keywords if k.arg == "dtype"), None)
        torch = _torch(job, source)
        if given is not None:
            job.draft.replace(source, given, f"{torch}.bfloat16")
        else:
            job.draft.keyword(source, call, "dtype", f"{torch}.bfloat16")
        told.append(f"autocast to bfloat16 in line {call.lineno}")
    told += _scalers_off(job)
    return "; ".join(dict.fromkeys(told)) + "."


def _torch(job: Job, source: Source) -> str:
    from traindx.experiment.edit.names import spelled

    return spelled(job.draft, source, "torch")


def _is_autocast(event: Event) -> bool:
    return event.value.short == "autocast"


def _autocasts(job: Job) -> list[Event]:
    found = [e for e in job.training.trace.events if _is_autocast(e) and e.value.kind == "call"]
    return list({id(e.spot.node): e for e in found}.values())


def _switch_off(job: Job) -> list[str]:
    told = []
    for event in _autocasts(job):
        source, call = call_of(event.value)
        job.draft.keyword(source, call, "enabled", "False")
        told.append(f"autocast off in line {call.lineno}")
    return told + _scalers_off(job)


def _scalers_off(job: Job) -> list[str]:
    told = []
    for event in job.training.trace.events:
        if event.value.kind == "call" and is_scaler(event.value) and isinstance(event.spot.node, ast.Call):
            job.draft.keyword(event.spot.source, event.spot.node, "enabled", "False")
            told.append(f"the GradScaler of line {event.spot.line} is off")
    return told


def _casts(job: Job, names: tuple[str, ...]) -> list[str]:
    told = []
    for event in job.training.trace.methods(*names):
        node = event.spot.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            start, end = job.draft.span(event.spot.source, node.func)
            job.draft.splice(event.spot.source, (end - len(node.func.attr), end), "float")
            told.append(f"{node.func.attr}() -> float() in line {node.end_lineno}")
            del start
    return told


def _types(job: Job, names: set[str]) -> list[tuple[Source, ast.AST, Event]]:
    """Where a type is written that some call is given."""
    found: dict[int, tuple[Source, ast.AST, Event]] = {}
    for event in job.training.trace.events:
        for value in [*event.value.args, *event.value.keywords.values()]:
            if isinstance(value, Named) and value.name in names and value.spot is not None:
                found.setdefault(id(value.spot.node), (value.spot.source, value.spot.node, event))
    return list(found.values())


def _retyped(job: Job, source: Source, node: ast.AST, to: str) -> str:
    if not isinstance(node, ast.Attribute):
        raise Uncertain("Use float32 here.", None)
    spot = Spot(source, node)
    front = job.draft.text(source, node.value)
    job.draft.replace(source, node, f"{front}.{to}")
    return f"{spot.text} -> {front}.{to} in line {spot.line}"


MAKERS: dict[str, Maker] = {"full_precision": full_precision, "bf16_autocast": bf16_autocast}
