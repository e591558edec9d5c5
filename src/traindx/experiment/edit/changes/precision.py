"""More precise numbers: no half precision at all, or bfloat16 instead of float16."""

from __future__ import annotations

import ast

from traindx.experiment.edit.job import Job, call_of, once
from traindx.experiment.edit.result import Uncertain, sentence
from traindx.experiment.edit.trainers import word_of, write_in_trainer
from traindx.source.execution import CallEvent
from traindx.source.roles import is_scaler
from traindx.source.trainer_settings import trainer_setting
from traindx.source.values import Named

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
    descriptions += [_retyped(job, node, "float32") for node in _types(job, _LOW)]
    return sentence(descriptions, "Nothing that computes in half precision was found in the script.")


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
        call = call_of(event.value)
        job.draft.keyword(call, "dtype", f"{job.spelled(call, 'torch')}.bfloat16")
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
    enabled = {name: flag for name, flag in flags.items() if flag is not None and word_of(flag) == "True"}
    needed = ["bf16"] if to == "bf16" and "fp16" in enabled else []
    descriptions = [
        write_in_trainer(job, flag, "False") for name, flag in enabled.items() if name not in needed
    ]
    return descriptions + [
        write_in_trainer(job, flag, "True")
        for name in needed
        if (flag := flags[name]) and name not in enabled
    ]


def autocasts(job: Job) -> list[CallEvent]:
    return once(job.calls(lambda call: call.short == "autocast"))


def _switch_off(job: Job) -> list[str]:
    descriptions = []
    for event in autocasts(job):
        call = call_of(event.value)
        job.draft.keyword(call, "enabled", "False")
        descriptions.append(f"autocast off in line {call.lineno}")
    return descriptions + _scalers_off(job)


def _scalers_off(job: Job) -> list[str]:
    descriptions = []
    for event in job.calls(is_scaler):
        if isinstance(event.spot.node, ast.Call):
            job.draft.keyword(event.spot.node, "enabled", "False")
            descriptions.append(f"the GradScaler of line {event.spot.line} is off")
    return descriptions


def _casts(job: Job, names: tuple[str, ...]) -> list[str]:
    descriptions = []
    for event in job.training.trace.methods(*names):
        node = event.spot.node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            job.draft.rename(node.func, "float")
            descriptions.append(f"{node.func.attr}() -> float() in line {node.end_lineno}")
    return descriptions


def _types(job: Job, names: set[str]) -> list[ast.AST]:
    """Where a type is written that a call other than autocast is given first."""
    types: dict[ast.AST, str] = {}
    for event in job.training.trace.events:
        for value in [*event.value.args, *event.value.keywords.values()]:
            if isinstance(value, Named) and value.name in names and value.spot is not None:
                types.setdefault(value.spot.node, event.value.short)
    return [node for node, function in types.items() if function != "autocast"]


def _retyped(job: Job, node: ast.AST, to: str) -> str:
    if not isinstance(node, ast.Attribute):
        raise Uncertain("Use float32 here.")
    front = job.draft.text(node.value)
    job.draft.replace(node, f"{front}.{to}")
    return f"{ast.unparse(node)} -> {front}.{to} in line {node.lineno}"
