"""Ignite: `TraindxCallback().attach(trainer, evaluators={"val": evaluator})`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework

Events: Any = framework("ignite.engine", "ignite").Events


class TraindxCallback:
    """Records the training with the metrics of its engines, and prints its diagnosis at the end."""

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        self.session = Session(**options)

    def attach(self, trainer: Any, evaluators: Any = None) -> None:
        """Listen to a trainer, and to the metrics of its evaluators: one, or a mapping of names to them."""
        evaluators_by_name = (
            evaluators if isinstance(evaluators, Mapping) else {"val": evaluators} if evaluators else {}
        )
        trainer.add_event_handler(Events.STARTED, self._started)
        for name, evaluator in evaluators_by_name.items():
            evaluator.add_event_handler(Events.COMPLETED, self._evaluated, f"{name}/")
        trainer.add_event_handler(Events.EPOCH_COMPLETED, self._epoch_ends)
        trainer.add_event_handler(Events.COMPLETED, lambda: self.session.end())

    def _started(self, trainer: Any) -> None:
        self.session.begin()
        if trainer.state.max_epochs is not None:
            self.session.settings({"epochs": trainer.state.max_epochs})

    def _evaluated(self, engine: Any, prefix: str) -> None:
        self.session.log({f"{prefix}{name}": value for name, value in engine.state.metrics.items()})

    def _epoch_ends(self, trainer: Any) -> None:
        self._evaluated(trainer, "train/")
        if self.session.stop_wanted():
            trainer.terminate()
