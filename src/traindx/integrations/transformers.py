"""Hugging Face: `Trainer(callbacks=[TraindxCallback()])`; importing this module also allows
`TrainingArguments(report_to="traindx")`.
"""

from __future__ import annotations

from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework

Callback: Any = framework("transformers", "transformers").TrainerCallback
_INTEGRATIONS: Any = framework("transformers.integrations.integration_utils", "transformers")

# What TrainingArguments calls a setting, and its canonical name.
_SETTINGS = {
    "learning_rate": "lr",
    "weight_decay": "weight_decay",
    "max_grad_norm": "clip",
    "warmup_steps": "warmup_steps",
    "lr_scheduler_type": "schedule",
    "num_train_epochs": "epochs",
    "per_device_train_batch_size": "batch_size",
    "gradient_accumulation_steps": "accumulation",
    "label_smoothing_factor": "label_smoothing",
}


class TraindxCallback(Callback):  # type: ignore[misc]
    """Records the training with all that the Trainer logs, and prints its diagnosis at the end."""

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        self.session = Session(**options)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        self.session.begin(kwargs.get("model"))
        values = {ours: getattr(args, theirs, None) for theirs, ours in _SETTINGS.items()}
        schedule = getattr(values["schedule"], "value", values["schedule"])
        self.session.settings({**values, "schedule": schedule})

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        self.session.log(kwargs.get("logs") or {})

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        if self.session.stop_wanted():
            control.should_training_stop = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.on_epoch_end(args, state, control, **kwargs)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        self.session.end()


_INTEGRATIONS.INTEGRATION_TO_CALLBACK["traindx"] = TraindxCallback
