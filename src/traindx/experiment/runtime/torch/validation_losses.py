"""The validation loss of a training, once for each evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks
    from traindx.observe.torch.places.losses import LossArguments


class ValidationLosses:
    """Calls `evaluated(loss)` when an evaluation is over: with the mean, per sample, of the losses that were
    computed without gradients since the last step."""

    def __init__(self, hooks: Hooks, evaluated: Callable[[float], None]) -> None:
        self._hooks = hooks
        self._evaluated = evaluated
        self._sum, self._rows = 0.0, 0
        hooks.loss_call(self._loss_call)
        hooks.model_call(self._model_call)
        hooks.at_end(self.finish)

    def _loss_call(self, loss: LossArguments) -> None:
        if loss.training or loss.input.requires_grad:
            return
        with self._hooks.aside():
            value = getattr(functional, loss.name)(**{**loss.given, "reduction": "mean"})
        rows = len(loss.target) if loss.target.dim() else 1
        self._sum, self._rows = self._sum + float(value) * rows, self._rows + rows

    def _model_call(self, call: Any, root: object) -> None:
        del root
        if call.training and torch.is_grad_enabled():
            self.finish()

    def finish(self) -> None:
        """Report the evaluation that is over now, if there was one."""
        if self._rows:
            value, self._sum, self._rows = self._sum / self._rows, 0.0, 0
            self._evaluated(value)
