"""Settings of the trainer that runs the loop, found on the stack of the first step: nothing is replaced."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from traindx.observe.torch.naming import frame_variables

# Of each trainer: where it keeps a setting, by its canonical name.
TRANSFORMERS = {
    "lr": "learning_rate",
    "weight_decay": "weight_decay",
    "clip": "max_grad_norm",
    "warmup": "warmup_steps",
    "warmup_ratio": "warmup_ratio",
    "schedule": "lr_scheduler_type",
    "epochs": "num_train_epochs",
    "max_steps": "max_steps",
    "batch_size": "per_device_train_batch_size",
    "accumulation": "gradient_accumulation_steps",
    "label_smoothing": "label_smoothing_factor",
    "seed": "seed",
    "fp16": "fp16",
    "bf16": "bf16",
}
LIGHTNING = {
    "clip": "gradient_clip_val",
    "accumulation": "accumulate_grad_batches",
    "epochs": "max_epochs",
    "max_steps": "max_steps",
    "precision": "precision",
}
_ACCELERATE = {
    "accumulation": "gradient_state.num_steps",
    "precision": "accelerator_state.mixed_precision",
}
_KEPT = {
    ("transformers", "Trainer"): {name: f"args.{where}" for name, where in TRANSFORMERS.items()},
    ("lightning", "Trainer"): LIGHTNING,
    ("pytorch_lightning", "Trainer"): LIGHTNING,
    ("accelerate", "AcceleratedOptimizer"): _ACCELERATE,
}
_OFF = {"epochs": (-1,), "max_steps": (-1,), "warmup_ratio": (0.0,), "precision": ("no",)}
_DEEPEST = 60


def trainer_settings() -> dict[str, Any]:
    """What the trainers around the current call are set to; an inner one gives way to an outer one."""
    settings: dict[str, Any] = {}
    for trainer in _callers():
        for base in type(trainer).__mro__:
            places = _KEPT.get((base.__module__.partition(".")[0], base.__name__))
            if places is not None:
                settings |= settings_at(trainer, places)
                break
    return settings


def settings_at(trainer: object, places: dict[str, str]) -> dict[str, Any]:
    """The settings that an object keeps under some attributes: numbers, words and truth values."""
    settings = {}
    for name, path in places.items():
        value: Any = trainer
        for part in path.split("."):
            value = getattr(value, part, None)
        value = getattr(value, "value", value)  # an enumeration
        if isinstance(value, bool | int | float | str) and value not in _OFF.get(name, ()):
            settings[name] = value
    return settings


def _callers() -> Iterator[object]:
    """The objects whose methods are running, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    visited: set[int] = set()
    for _ in range(_DEEPEST):
        if frame is None:
            return
        instance = frame_variables(frame).get("self")
        if instance is not None and id(instance) not in visited:
            visited.add(id(instance))
            yield instance
        frame = frame.f_back
