"""The validation loss of a training, once for each evaluation."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks
    from traindx.observe.torch.places.losses import LossArguments


class ValidationLosses:
    """Calls `evaluated(loss)` when an evaluation is over: with the mean, per sample, of the losses that were
    computed without gradients since the last step. Those of the training data count only where there are no
    others."""

    def __init__(self, hooks: Hooks, evaluated: Callable[[float], None]) -> None:
        self._hooks = hooks
        self._evaluated = evaluated
        self._losses: list[tuple[float, int, bool]] = []
        self._trained: dict[int, tuple[weakref.ref[torch.Tensor], int, int]] = {}
        hooks.loss_call(self._loss_call)
        hooks.model_call(self._model_call)
        hooks.at_end(self.finish)

    def _loss_call(self, loss: LossArguments) -> None:
        whole, start, end = _extent(loss.target)
        known = self._trained.get(id(whole))
        same = known is not None and known[0]() is whole
        if loss.training and loss.input.requires_grad:
            low, high = known[1:] if known is not None and same else (start, end)
            key = id(whole)
            reference = weakref.ref(whole, lambda _: self._trained.pop(key, None))
            self._trained[key] = reference, min(low, start), max(high, end)
            return
        if loss.training or loss.input.requires_grad:
            return
        with self._hooks.aside():
            value = getattr(functional, loss.name)(**{**loss.given, "reduction": "mean"})
        rows = len(loss.target) if loss.target.dim() else 1
        trained = known is not None and same and start < known[2] and known[1] < end
        self._losses.append((float(value), rows, trained))

    def _model_call(self, call: Any, root: object) -> None:
        del root
        if call.training and torch.is_grad_enabled():
            self.finish()

    def finish(self) -> None:
        """Report the evaluation that is over now, if there was one."""
        losses = [one for one in self._losses if not one[2]] or self._losses
        self._losses = []
        if losses:
            rows = sum(rows for _, rows, _ in losses)
            self._evaluated(sum(value * rows for value, rows, _ in losses) / rows)


def _extent(tensor: torch.Tensor) -> tuple[torch.Tensor, int, int]:
    """The tensor that another one is a slice of, and the part of its memory that the slice covers."""
    whole = tensor._base if tensor._base is not None else tensor
    start = int(tensor.storage_offset())
    length = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return whole, start, start + length
