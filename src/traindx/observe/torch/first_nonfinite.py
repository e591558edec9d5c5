"""The first loss or gradient that is no number: where it came from, recorded once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from traindx.observe.data.batches import input_statistics
from traindx.observe.torch.batch_columns import columns_of, parts_of
from traindx.observe.torch.finite import numbers
from traindx.observe.torch.nonfinite_origin import NonfiniteOrigin, backward_origin, forward_origin
from traindx.observe.torch.roots import optimizer_parameters

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


class Origins:
    """Searches the autograd graph while it still exists."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self._reported = False

    def loss(self, loss: float, tensor: torch.Tensor) -> None:
        """Backward is about to be called on a loss that is no number."""
        if self._reported:
            return
        self._reported = True
        watching = self.watching
        parameters = [
            parameter
            for optimizer in watching.constructed.alive()
            for parameter in optimizer_parameters(optimizer)
        ]
        first = watching.recorder.step == 0
        self._record(
            forward_origin(tensor, watching.names.layer_of, parameters, first_step=first),
            loss,
            watching.recorder.step + 1,
        )

    def gradients(self, norm: float, loss: object, batch: int) -> None:
        """The gradients of a step are no numbers, though its loss is one."""
        watching = self.watching
        optimizer, grad_fn = watching.lead(), watching.steps.grad_fn
        spoiled = isinstance(loss, float) and not math.isfinite(loss)
        if self._reported or spoiled or optimizer is None or grad_fn is None:
            return
        scale = watching.steps.loss_scale
        origin = backward_origin(
            grad_fn, optimizer_parameters(optimizer), watching.names.layer_of, loss_scale=scale
        )
        if origin.numbers.get("layers_bad"):
            self._reported = True
            self._record(origin, norm, batch)

    def _record(self, origin: NonfiniteOrigin, value: float, batch: int) -> None:
        recorder = self.watching.recorder
        data = origin.data() | {"batch": batch, "value": value}
        batch = self.watching.batch
        columns = columns_of(batch)
        if columns:
            parts = parts_of(batch)
            data["input"] = input_statistics(parts.inputs if parts else columns[0].tensor)
            # Inputs and targets.
            data["batch_nonfinite"] = sum(_nonfinite(column.tensor) for column in columns)
        recorder.event("nonfinite", origin.text, data)
        recorder.flush()


def _nonfinite(tensor: torch.Tensor) -> int:
    """How many values are no numbers."""
    count = numbers(tensor).get("nonfinite", 0) if tensor.is_floating_point() else 0
    return count if isinstance(count, int) else 0
