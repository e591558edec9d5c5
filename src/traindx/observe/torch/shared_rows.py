"""Rows that several optimizers have a part in: two nets of a GAN, or two optimizers for one loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.optimizer_state import TrackedOptimizer
from traindx.observe.torch.scalars import Row, together

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

# Until then a row waits for optimizers that were made and have not stepped yet.
_ALL_STEPPED = 50


class SharedRows:
    """The lead's row stays open for what the others add; most trainings have one optimizer and never wait."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.recorder = watching.recorder
        self._open: Row | None = None
        self._waiting: list[Row] = []

    def deliver(self, row: Row, *, alone: bool) -> None:
        """The row of a step of the lead; `alone` when nobody can add to it."""
        self.close()
        if alone or not (self._early() or len(self.watching.steps.optimizers.entries) > 1):
            self.recorder.push(row)
            return
        row["t"], row["step"] = self.recorder.now(), self.recorder.step
        self._open = row

    def join(self, entry: TrackedOptimizer, loss: float | torch.Tensor | None, gradients: Row) -> None:
        """Another optimizer of the same iteration: its part of the row."""
        row = self._open if self._open is not None else {}
        self._open = row
        if loss is not None:
            entry.own_loss = True
            row[f"loss/{entry.name}"] = loss
        if entry.own_loss:
            prefix = f"optimizer/{entry.name}/"
            row.update({prefix + key: value for key, value in gradients.items()})
            self.watching.steps.optimizers.rates(row, entry, prefix)
        elif "grad_norm" in row and "grad_norm" in gradients:
            row["grad_norm"] = together([torch.as_tensor(part["grad_norm"]) for part in (row, gradients)])

    def close(self) -> None:
        """The open row is done; early ones wait until every optimizer has stepped once, or will not."""
        row, self._open = self._open, None
        if row:
            self._waiting.append(row)
        if self._waiting and not self._early():
            self._write()

    def finish(self) -> None:
        """Nothing more comes: all that waits is written."""
        self.close()
        self._write()

    def _early(self) -> bool:
        return self.recorder.step < _ALL_STEPPED and self.watching.constructed.some_to_come()

    def _write(self) -> None:
        """Where the losses are several, each bears the name of its optimizer."""
        rows, self._waiting = self._waiting, []
        optimizers = self.watching.steps.optimizers
        lead, several = optimizers.lead, optimizers.several_losses()
        for row in rows:
            if "loss" in row and lead is not None and several:
                row[f"loss/{lead.name}"] = row.pop("loss")
            self.recorder.push(row)
