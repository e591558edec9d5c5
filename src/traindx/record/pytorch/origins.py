"""The first loss or gradient that is no number: where it came from, told once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from traindx.record.pytorch.batches import input_statistics
from traindx.record.pytorch.finite import numbers
from traindx.record.pytorch.origin import Origin, backward_origin, forward_origin

if TYPE_CHECKING:
    from traindx.record.pytorch.watching import Watching


class Origins:
    """Asks the autograd graph while it is still there."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self._told = False

    def loss(self, loss: float, tensor: torch.Tensor) -> None:
        """Backward is about to be called on a loss that is no number."""
        if self._told:
            return
        self._told = True
        watching = self.watching
        parameters = [one for optimizer in watching.optimizers() for one in watching.parameters(optimizer)]
        first = watching.recorder.step == 0
        self._tell(
            forward_origin(tensor, watching.names.layer_of, parameters, first_step=first),
            loss,
            watching.recorder.step + 1,
        )

    def gradients(self, norm: float, loss: object, batch: int) -> None:
        """The gradients of a step are no numbers, though its loss is one."""
        watching = self.watching
        optimizer, grad_fn = watching.lead(), watching.steps.grad_fn
        spoiled = isinstance(loss, float) and not math.isfinite(loss)
        if self._told or spoiled or optimizer is None or grad_fn is None:
            return
        scale = watching.steps.loss_scale
        found = backward_origin(
            grad_fn, watching.parameters(optimizer), watching.names.layer_of, loss_scale=scale
        )
        if found.numbers.get("layers_bad"):
            self._told = True
            self._tell(found, norm, batch)

    def _tell(self, origin: Origin, value: float, batch: int) -> None:
        recorder = self.watching.recorder
        data = origin.data() | {"batch": batch, "value": value}
        given = _first_tensor(self.watching.batch)
        if given is not None:
            data["input"] = input_statistics(given)
            data["batch_nonfinite"] = _nonfinite(self.watching.batch)
        recorder.event("nonfinite", origin.text, data)
        recorder.flush()


def _nonfinite(batch: object, depth: int = 3) -> int:
    """How many values of a batch, inputs and targets, are no numbers."""
    if isinstance(batch, torch.Tensor):
        told = numbers(batch).get("nonfinite", 0) if batch.is_floating_point() else 0
        return told if isinstance(told, int) else 0
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    inside = batch if isinstance(batch, tuple | list) else ()
    return sum(_nonfinite(one, depth - 1) for one in inside[:100] if depth)


def _first_tensor(batch: object, depth: int = 3) -> torch.Tensor | None:
    """The input of a batch as loaders give it: a tensor, or the first one in a tuple or mapping."""
    if isinstance(batch, torch.Tensor):
        return batch
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    inside = batch if isinstance(batch, tuple | list) else ()
    found = (_first_tensor(one, depth - 1) for one in inside if depth)
    return next((one for one in found if one is not None), None)
