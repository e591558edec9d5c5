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
        base, start, end = _extent(loss.target)
        extent = self._trained.get(id(base))
        is_same = extent is not None and extent[0]() is base
        if loss.training and loss.input.requires_grad:
            low, high = extent[1:] if extent is not None and is_same else (start, end)
            key = id(base)
            reference = weakref.ref(base, lambda _: self._trained.pop(key, None))
            self._trained[key] = reference, min(low, start), max(high, end)
            return
        if loss.training or loss.input.requires_grad:
            return
        with self._hooks.aside():
            value = getattr(functional, loss.name)(**{**loss.given, "reduction": "mean"})
        rows = len(loss.target) if loss.target.dim() else 1
        trained = extent is not None and is_same and start < extent[2] and extent[1] < end
        self._losses.append((float(value), rows, trained))

    def _model_call(self, call: Any, root: object) -> None:
        del root
        if call.training and torch.is_grad_enabled():
            self.finish()

    def finish(self) -> None:
        """Report the evaluation that is over now, if there was one."""
        losses = [loss for loss in self._losses if not loss[2]] or self._losses
        self._losses = []
        if losses:
            rows = sum(rows for _, rows, _ in losses)
            self._evaluated(sum(value * rows for value, rows, _ in losses) / rows)


def _extent(tensor: torch.Tensor) -> tuple[torch.Tensor, int, int]:
    """The tensor that another one is a slice of, and the part of its memory that the slice covers."""
    base = tensor._base if tensor._base is not None else tensor
    start = int(tensor.storage_offset())
    length = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return base, start, start + length
