"""Settings of trainers that run the loop themselves: transformers' arguments, Lightning's Trainer."""

from __future__ import annotations

from traindx.core.nouns import Scalar
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.new_number import Wanted
from traindx.experiment.edit.value_origin import change
from traindx.source.values import Made

_NAMES = {
    "clip_norm": ("max_grad_norm", "gradient_clip_val"),
    "warm_up": ("warmup_steps", ""),
    "set_weight_decay": ("weight_decay", ""),
}
_DEFAULTS = {"max_grad_norm": 1.0, "warmup_steps": 0.0, "weight_decay": 0.0}


def set_in_trainer(job: Job, id: str, value: Scalar) -> str:
    """The trainer's setting for a change; empty when the script has no such trainer."""
    transformers, lightning = _NAMES[id]
    for event in job.training.trace.events:
        call = event.value
        name = transformers if _is_arguments(call) else lightning if _is_lightning(call) else ""
        if name:
            return change(job, call, name, -1, Wanted(value=value), rf"{name}$", _DEFAULTS.get(name)) + "."
    return ""


def _is_arguments(call: Made) -> bool:
    return call.kind == "call" and call.name.endswith("TrainingArguments")


def _is_lightning(call: Made) -> bool:
    return call.kind == "call" and call.name.startswith("lightning") and call.short == "Trainer"
