"""Keras: `model.fit(x, y, callbacks=[TraindxCallback()])`, on any backend."""

from __future__ import annotations

from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework

Callback: Any = framework("keras.callbacks", "keras").Callback


class TraindxCallback(Callback):  # type: ignore[misc]
    """Records the training, and prints its diagnosis at the end.

    Create it before `fit` is called: what is recorded inside is decided when Keras builds its train function.
    It has no hook per batch, which would end the asynchronous dispatch of Keras.
    """

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        super().__init__()
        self.session = Session(**options)
        self.session.begin()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        if self.session.stop_wanted():
            self.model.stop_training = True

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        self.session.end()
