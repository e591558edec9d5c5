"""Accelerate: `Accelerator(log_with=[TraindxTracker()])`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework

Tracker: Any = framework("accelerate.tracking", "accelerate").GeneralTracker


class TraindxTracker(Tracker):  # type: ignore[misc]
    """Records the training with all that `accelerator.log` is given; the diagnosis at `end_training()`."""

    name = "traindx"
    requires_logging_directory = False

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        super().__init__()
        self.session = Session(**options)
        self.session.begin()

    @property
    def tracker(self) -> Any:
        return self.session.watch

    def store_init_configuration(self, values: Mapping[str, object]) -> None:
        self.session.settings(values)

    def log(self, values: Mapping[str, object], step: int | None = None, **kwargs: Any) -> None:  # noqa: ARG002
        self.session.log(values, step)

    def finish(self) -> None:
        self.session.end()
