"""Settings that a framework takes as keywords of one call: one table for reading and for editing them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from traindx.source.execution import Trace
from traindx.source.trainers import is_lightning
from traindx.source.values import Made, Value

Default = float | str | None
# Of each call: what it calls a setting, by its canonical name, and what holds where it is not given.
_SETTINGS: dict[str, dict[str, tuple[str, Default]]] = {
    "transformers": {
        "lr": ("learning_rate", 5e-5),
        "clip": ("max_grad_norm", 1.0),
        "warmup": ("warmup_steps", 0.0),
        "weight_decay": ("weight_decay", 0.0),
        "beta1": ("adam_beta1", 0.9),
        "beta2": ("adam_beta2", 0.999),
        "eps": ("adam_epsilon", 1e-8),
        "schedule": ("lr_scheduler_type", "linear"),
        "accumulation": ("gradient_accumulation_steps", 1.0),
        "batch_size": ("per_device_train_batch_size", 8.0),
        "workers": ("dataloader_num_workers", 0.0),
        "epochs": ("num_train_epochs", 3.0),
        "label_smoothing": ("label_smoothing_factor", 0.0),
        "fp16": ("fp16", None),
        "bf16": ("bf16", None),
    },
    "lightning": {
        "clip": ("gradient_clip_val", None),
        "clip_by": ("gradient_clip_algorithm", "norm"),
        "accumulation": ("accumulate_grad_batches", 1.0),
        "epochs": ("max_epochs", None),
        "precision": ("precision", "32-true"),
    },
    "accelerate": {
        "accumulation": ("gradient_accumulation_steps", 1.0),
        "precision": ("mixed_precision", "no"),
    },
}
_ARGUMENTS = re.compile(r"(TrainingArguments|^trl\.\w+Config)$")


@dataclass(frozen=True, eq=False)
class TrainerSetting:
    """A setting as a call takes it: the call, the keyword, what holds without it."""

    framework: str
    call: Made
    keyword: str
    default: Default

    @property
    def value(self) -> Value | None:
        return self.call.keywords.get(self.keyword)


def trainer_calls(trace: Trace) -> Iterator[tuple[str, Made]]:
    """The calls that carry settings, with their framework."""
    for event in trace.calls:
        call = event.value
        if is_lightning(call):
            yield "lightning", call
        elif _ARGUMENTS.search(call.name):
            yield "transformers", call
        elif call.name in ("accelerate.Accelerator", "accelerate.accelerator.Accelerator"):
            yield "accelerate", call


def trainer_setting(trace: Trace, name: str) -> TrainerSetting | None:
    """The first call that takes a setting; None where no framework does."""
    for framework, call in trainer_calls(trace):
        if name in _SETTINGS[framework]:
            return TrainerSetting(framework, call, *_SETTINGS[framework][name])
    return None
