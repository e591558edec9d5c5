"""Hugging Face: `Trainer(callbacks=[TraindxCallback()])`; importing this module also allows
`TrainingArguments(report_to="traindx")`.
"""

from __future__ import annotations

from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework
from traindx.observe.torch.trainers import TRANSFORMERS, settings_at

Callback: Any = framework("transformers", "transformers").TrainerCallback
_INTEGRATIONS: Any = framework("transformers.integrations.integration_utils", "transformers")


class TraindxCallback(Callback):  # type: ignore[misc]
    """Records the training with all that the Trainer logs, and prints its diagnosis at the end."""

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        self.session = Session(**options)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ARG002
        self.session.begin(kwargs.get("model"))
        self.session.settings(settings_at(args, TRANSFORMERS))

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
