"""`--stop-on critical`, in the training itself: stop once the loss is NaN or Inf for good.

After a step that was taken with a loss or a gradient norm that is not finite, the weights are checked: once
one of them is NaN, no later step recovers. Where the weights are not known or still finite, three such
losses in a row decide. Steps that a `GradScaler` skipped do not count: no weight was changed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.roots import optimizer_parameters
from traindx.observe.torch.scalars import Row

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_IN_A_ROW = 3


class NonfiniteStop:
    """Reads the row of every step that was taken; on a device, once its numbers have arrived."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self._on_device: list[tuple[int, Row]] = []
        self._in_a_row = 0

    def step_done(self, row: Row) -> None:
        """A step was taken; `row` has its loss and, where it was read, its gradient norm."""
        step = self.watching.recorder.step
        if any(isinstance(row.get(name), torch.Tensor) for name in ("loss", "grad_norm")):
            self._on_device.append((step, row))
        else:
            self._judge(step, row)

    def numbers_arrived(self, rows: list[Row]) -> None:
        """The values of steps on a device have been copied to the host."""
        del rows
        arrived, self._on_device = self._on_device, []
        for step, row in arrived:
            self._judge(step, row)

    def _judge(self, step: int, row: Row) -> None:
        loss, norm = row.get("loss"), row.get("grad_norm")
        bad_loss = isinstance(loss, float) and not math.isfinite(loss)
        bad_norm = isinstance(norm, float) and not math.isfinite(norm)
        self._in_a_row = self._in_a_row + 1 if bad_loss else 0
        if not (bad_loss or bad_norm):
            return
        name, value = ("loss", loss) if bad_loss else ("gradient norm", norm)
        if self._weights_are_nan():
            self._stop(f"the {name} is {value} at step {step} and the weights are NaN")
        elif self._in_a_row >= _IN_A_ROW:
            self._stop(f"the loss is {loss} at step {step}, for {_IN_A_ROW} steps in a row")

    def _weights_are_nan(self) -> bool:
        optimizer = self.watching.lead()
        weights = optimizer_parameters(optimizer) if optimizer is not None else []
        return any(bool(torch.isnan(weight).any()) for weight in weights if weight.is_floating_point())

    def _stop(self, reason: str) -> None:
        self.watching.recorder.stop_soon(f"stopped on a critical problem: {reason}")
