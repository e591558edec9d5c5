"""Steps that hold nothing new: kept as they come, made into rows many at a time.

Python run between the large operations of a training runs with cold caches and costs many times what it
does in a loop of its own. So an ordinary step of a small model leaves a tuple, and everything else waits
for every sixteenth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from traindx.record.clock import perf_counter
from traindx.record.pytorch.optimizing import Known, rate_of
from traindx.record.pytorch.values import Row

if TYPE_CHECKING:
    import torch

    from traindx.record.pytorch.steps import Steps

_FROM = 64
_MANY = 16
_LONG = 0.1


class Kept(NamedTuple):
    """One step as it was taken; seconds are None where a pause made them meaningless."""

    ended: float
    step: int
    loss: float
    lr: Any
    wait: float
    forward: float
    backward: float
    optimizer: float
    seconds: float | None


class Quick:
    """The ordinary steps since the last settling."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.on = False
        self.known: Known | None = None
        self._kept: list[Kept] = []
        self._settled = 0.0

    def loss_of(self, tensors: Any) -> float | None:
        """The loss, if nothing about it asks for a closer look."""
        if (
            type(tensors) is not tuple
            or len(tensors) != 1
            or tensors[0].numel() != 1
            or not tensors[0].is_cpu
        ):
            return None
        value = tensors[0].item()
        return value if type(value) is float and math.isfinite(value) else None

    def is_it(self, optimizer: torch.optim.Optimizer) -> bool:
        return self.known is not None and self.known.ref() is optimizer

    def keep(self, kept: Kept) -> None:
        self._kept.append(kept)
        if len(self._kept) >= _MANY or kept.ended - self._settled > _LONG:
            # Whoever else settles may do so in the middle of a validation.
            self.steps.watching.modes.look()
            self.settle()
            self.steps.plan()

    def settle(self) -> None:
        """Rows of what was kept, and the accounts."""
        kept, self._kept = self._kept, []
        self._settled = began = perf_counter()
        if not kept or self.known is None:
            return
        steps, recorder, budget = self.steps, self.steps.recorder, self.steps.recorder.budget
        self.known.count += len(kept)
        rows = [self._row(one) for one in kept]
        steps.watching.step_done(rows[-1], kept[-1].seconds or 0.0, began)
        for row, one in zip(rows, kept, strict=True):
            if steps.row_due(one.step):
                recorder.push(row)
        recorder.tick(began)
        own = (steps.own + perf_counter() - began) / len(kept)
        steps.own = 0.0
        for one in kept:
            if one.seconds is not None:
                budget.step(one.seconds, own, False)

    def _row(self, kept: Kept) -> Row:
        assert self.known is not None
        row: Row = {"t": self.steps.recorder.since(kept.ended), "step": kept.step, "loss": kept.loss}
        rate = rate_of({"lr": kept.lr})
        if rate is not None:
            row["lr"] = rate
            self.steps.optimizers.changed_rate(self.known, rate, kept.step)
        row["data_wait_s"], row["backward_s"], row["optimizer_s"] = kept.wait, kept.backward, kept.optimizer
        if kept.seconds is not None:
            row["step_s"], row["forward_s"] = kept.seconds, kept.forward
        return row

    def decide(self) -> None:
        """Whether the coming steps may be ordinary ones."""
        steps = self.steps
        watching, lead = steps.watching, steps.optimizers.lead
        optimizer = lead.ref() if lead is not None else None
        self.known = lead
        self.on = (
            optimizer is not None
            and steps.recorder.step >= _FROM
            and len(steps.optimizers.known) == 1
            and steps.loss_scale is None
            and steps.hidden is None
            and not watching.compiled
            and not watching.looking
            and watching.facts.world == 1
            and len({rate_of(group) for group in optimizer.param_groups}) == 1
        )
