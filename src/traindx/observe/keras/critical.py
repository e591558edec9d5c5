"""A loss that is no number: recorded once with what is known of its origin, and `--stop-on critical`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from traindx.observe.keras.tap import Tap

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_IN_A_ROW = 3


class Critical:
    """Reads the row of every step once its numbers have arrived."""

    def __init__(self, training: KerasTraining) -> None:
        self.training = training
        self._in_a_row = 0
        self._reported = False
        self._last_sound = -1  # the last step whose loss and weights were numbers
        # The first step whose batch was bad: a ReLU may hide it from the loss, not from the weights.
        self._first: tuple[Tap, dict[str, float], int] | None = None

    def weights_lost(self) -> None:
        """A sample found weights that are no numbers, whatever the loss is."""
        if self._first is not None and not self._reported:
            self._reported = True
            self._record(*self._first, math.nan)

    def saw(self, row: dict[str, object], tap: Tap, numbers: dict[str, float]) -> None:
        losses = [value for name, value in row.items() if name.partition("/")[0] == "loss"]
        bad = [value for value in losses if isinstance(value, float) and not math.isfinite(value)]
        step = row["step"] if isinstance(row["step"], int) else self.training.recorder.step
        if self._first is None and (_is_bad(numbers, "input") or _is_bad(numbers, "target")):
            self._first = tap, numbers, step
        if not bad:
            self._in_a_row = 0
            if losses and not _is_bad(numbers, "weights"):
                self._last_sound = step
            return
        self._in_a_row += 1
        recorder = self.training.recorder
        if not self._reported:
            self._reported = True
            self._record(tap, numbers, step, bad[0])
        weights = _is_bad(numbers, "weights")
        if recorder.stop_on_critical and (weights or self._in_a_row >= _IN_A_ROW):
            circumstance = "and the weights are NaN" if weights else f"for {_IN_A_ROW} steps in a row"
            reason = f"the loss is {bad[0]} at step {step}, {circumstance}"
            recorder.stop_soon(f"stopped on a critical problem: {reason}")

    def _record(self, tap: Tap, numbers: dict[str, float], step: int, loss: float) -> None:
        """Where the first one came from: the batch, the weights, a layer or the loss function."""
        bad_data = _is_bad(numbers, "input") + _is_bad(numbers, "target")
        operation = tap.suspect
        data: dict[str, object] = {"batch": step, "value": loss, "batch_nonfinite": bad_data}
        if bad_data:
            part = "input" if _is_bad(numbers, "input") else "target"
            where, text = "input", f"the {part} is not finite"
        elif _is_bad(numbers, "weights"):
            where, text = "weights", "the weights held NaN or Inf before the forward pass"
            if operation:
                where, text = "backward", f"{operation} had a gradient that is not finite"
            elif self._last_sound == step - 1:
                where = "backward"
                text = f"at step {step - 1} a gradient was NaN or Inf, of finite loss and weights"
        elif _is_bad(numbers, "output"):
            where, text = (
                "forward",
                f"{operation or 'a layer'} gave what is not finite, of finite inputs and weights",
            )
        else:
            where, text = (
                "loss",
                f"{operation or 'the loss function'} gave what is not finite, of finite outputs",
            )
        data["where"] = where
        if operation and where != "input":
            data["operation"] = operation
        self.training.recorder.event("nonfinite", text, data, step=step - 1)


def _is_bad(numbers: dict[str, float], part: str) -> bool:
    """Whether something of a step held what is no number."""
    return not math.isfinite(numbers.get(f"bad/{part}", 0.0))
