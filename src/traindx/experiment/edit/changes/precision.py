"""More precise numbers: no half precision at all, or bfloat16 instead of float16."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.names import spelled
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import word_of, write_in_trainer
from traindx.source.execution import CallEvent
from traindx.source.roles import is_scaler
from traindx.source.script import Source
from traindx.source.trainer_settings import trainer_setting
from traindx.source.values import Named, Spot

HALF = {"torch.float16", "torch.half"}
# How each trainer says it, by what it should compute in.
_PRECISIONS = {
    ("lightning", "full"): '"32-true"',
    ("lightning", "bf16"): '"bf16-mixed"',
    ("accelerate", "full"): '"no"',
    ("accelerate", "bf16"): '"bf16"',
}
_LOW = HALF | {"torch.bfloat16"}


def full_precision(job: Job) -> str:
    """autocast and scaler switched off; half() becomes float(); half types become float32."""
    descriptions = _in_trainer(job, "full") + _switch_off(job) + _casts(job, ("half", "bfloat16"))
    descriptions += [
        _retyped(job, source, node, "float32")
        for source, node, event in _types(job, _LOW)
        if event.value.short != "autocast"
    ]
    if not descriptions:
        raise Uncertain("Nothing that computes in half precision was found in the script.")
    return sentence(descriptions)


def bf16_autocast(job: Job) -> str:
    """The type of autocast is bfloat16, and nothing is scaled."""
    in_trainer = _in_trainer(job, "bf16")
    if in_trainer:
        return sentence(in_trainer)
    casts = autocasts(job)
    if not casts:
        raise Uncertain(
            "The script has no autocast: compute the loss under `torch.autocast(..., dtype=torch.bfloat16)`."
        )
    descriptions = []
    for event in casts:
        source, call = call_of(event.value)
        job.draft.keyword(source, call, "dtype", f"{spelled(job.draft, source, 'torch')}.bfloat16")
        descriptions.append(f"autocast to bfloat16 in line {call.lineno}")
    descriptions += _scalers_off(job)
    return sentence(descriptions)


def _in_trainer(job: Job, to: str) -> list[str]:
    """The precision that a trainer computes in; nothing where it is full already."""
    trace = job.training.trace
    setting = trainer_setting(trace, "precision")
    if setting is not None and not word_of(setting).startswith(("32", "64", "no")):
        new = _PRECISIONS[setting.framework, to]
        return [write_in_trainer(job, setting, new)] if word_of(setting) != new.strip('"') else []
    flags = {name: trainer_setting(trace, name) for name in ("fp16", "bf16")}
    given = {name: one for name, one in flags.items() if one is not None and word_of(one) == "True"}
    wanted = ["bf16"] if to == "bf16" and "fp16" in given else []
    descriptions = [write_in_trainer(job, one, "False") for name, one in given.items() if name not in wanted]
    return descriptions + [
        write_in_trainer(job, one, "True") for name in wanted if (one := flags[name]) and name not in given
    ]


def autocasts(job: Job) -> list[CallEvent]:
    return once(job.calls(lambda made: made.short == "autocast"))


def _switch_off(job: Job) -> list[str]:
    descriptions = []
    for event in autocasts(job):
        source, call = call_of(event.value)
        job.draft.keyword(source, call, "enabled", "False")
        descriptions.append(f"autocast off in line {call.lineno}")
    return descriptions + _scalers_off(job)


def _scalers_off(job: Job) -> list[str]:
    descriptions = []
    for event in job.calls(is_scaler):
        if isinstance(event.spot.node, ast.Call):
            job.draft.keyword(event.spot.source, event.spot.node, "enabled", "False")
            descriptions.append(f"the GradScaler of line {event.spot.line} is off")
    return descriptions


def _casts(job: Job, names: tuple[str, ...]) -> list[str]:
    descriptions = []
    for event in job.training.trace.methods(*names):
        node = event.spot.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            _, end = job.draft.span(event.spot.source, node.func)
            job.draft.splice(event.spot.source, (end - len(node.func.attr), end), "float")
            descriptions.append(f"{node.func.attr}() -> float() in line {node.end_lineno}")
    return descriptions


def _types(job: Job, names: set[str]) -> list[tuple[Source, ast.AST, CallEvent]]:
    """Where a type is written that some call is given."""
    types: dict[int, tuple[Source, ast.AST, CallEvent]] = {}
    for event in job.training.trace.events:
        for value in [*event.value.args, *event.value.keywords.values()]:
            if isinstance(value, Named) and value.name in names and value.spot is not None:
                types.setdefault(id(value.spot.node), (value.spot.source, value.spot.node, event))
    return list(types.values())


def _retyped(job: Job, source: Source, node: ast.AST, to: str) -> str:
    if not isinstance(node, ast.Attribute):
        raise Uncertain("Use float32 here.", None)
    spot = Spot(source, node)
    front = job.draft.text(source, node.value)
    job.draft.replace(source, node, f"{front}.{to}")
    return f"{spot.text} -> {front}.{to} in line {spot.line}"


EDITS = (full_precision, bf16_autocast)
