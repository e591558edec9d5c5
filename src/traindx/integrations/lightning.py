"""Lightning: `Trainer(callbacks=[TraindxCallback()])`, of `lightning` or of `pytorch_lightning`."""

from __future__ import annotations

import sys
from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework
from traindx.observe.torch.trainers import LIGHTNING, settings_at

# A callback of one of the two packages is none of the other.
_OLD = "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules
Callback: Any = framework("pytorch_lightning" if _OLD else "lightning.pytorch", "lightning").Callback


class TraindxCallback(Callback):  # type: ignore[misc]
    """Records the training with all that `self.log` is given, and prints its diagnosis at the end."""

    def __init__(self, **options: Unpack[CallbackOptions]) -> None:
        self.session = Session(**options)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self.session.begin(pl_module)
        self.session.settings(dict(getattr(pl_module, "hparams", None) or {}))
        self.session.settings(settings_at(trainer, LIGHTNING))

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        if not trainer.sanity_checking:
            self.session.log(trainer.callback_metrics)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self.session.log(trainer.callback_metrics)
        if self.session.stop_wanted():
            trainer.should_stop = True

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
        self.session.end(exception)

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        self.session.end()
