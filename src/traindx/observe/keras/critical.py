"""A loss that is no number: recorded once with what is known of its origin, and `--stop-on critical`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_IN_A_ROW = 3


class Critical:
    """Reads the row of every step once its numbers have arrived."""

    def __init__(self, training: KerasTraining) -> None:
        self.training = training
        self._in_a_row = 0

    def saw(self, row: dict[str, object]) -> None:
        loss = row.get("loss")
        if not isinstance(loss, float) or math.isfinite(loss):
            self._in_a_row = 0
            return
        self._in_a_row += 1
        recorder = self.training.recorder
        if recorder.stop_on_critical and self._in_a_row >= _IN_A_ROW:
            reason = f"the loss is {loss} at step {row['step']}, for {_IN_A_ROW} steps in a row"
            recorder.stop_soon(f"stopped on a critical problem: {reason}")
