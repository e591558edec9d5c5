"""The optimizers of a training: which one's steps are counted, and what its groups are set to."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.roots import parameter_ids
from traindx.observe.torch.scalars import Row

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

FEW_GROUPS = 8
_JUMP = 3.0
_SMALL = 1e-2


class TrackedOptimizer:
    """An optimizer that has stepped, by weak reference: it must stay deletable."""

    def __init__(self, optimizer: torch.optim.Optimizer, name: str) -> None:
        self.ref = weakref.ref(optimizer)
        self.name = name
        self.count = 0
        self.own_loss = False
        self.alone = 0
        self.late = False
        # Whether it was seen if somebody clears its gradients, or that need not be looked at.
        self.clearing_known = False
        self.rate: float | None = None
        self.groups = 0
        self.highest = 0.0


class Optimizers:
    """All that have stepped; the lead is the one whose steps are the training's, mostly the only one."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.entries: dict[int, TrackedOptimizer] = {}
        self.lead: TrackedOptimizer | None = None

    def entry_of(self, optimizer: torch.optim.Optimizer) -> TrackedOptimizer:
        entry = self.entries.get(id(optimizer))
        if entry is None or entry.ref() is not optimizer:
            entry = TrackedOptimizer(optimizer, self.watching.optimizer_name(optimizer, len(self.entries)))
            entry.late = self.lead is not None and self.watching.constructed.is_late(optimizer)
            self.entries[id(optimizer)] = entry
            is_new_training = self.lead is not None and entry.late and _is_new_training(entry, self.lead)
            self.watching.new_optimizer(optimizer, entry, is_new_training)
        return entry

    def steps_of(self, optimizer: torch.optim.Optimizer) -> int:
        """Steps an optimizer has taken so far."""
        entry = self.entries.get(id(optimizer))
        return entry.count if entry is not None else 0

    def follow(self, entry: TrackedOptimizer) -> bool:
        """Whether this step is one of the lead's. One that steps twice while the lead rests takes over."""
        lead = self.lead
        if lead is None:
            self.lead = entry
        elif entry is lead:
            if len(self.entries) > 1:
                for sibling in self.entries.values():
                    sibling.alone = 0
        else:
            entry.alone += 1
            if lead.ref() is not None and not entry.late and entry.alone < 2:
                return False
            self._take_over(entry, lead)
        return True

    def _take_over(self, entry: TrackedOptimizer, lead: TrackedOptimizer) -> None:
        optimizer, is_new_training = entry.ref(), _is_new_training(entry, lead)
        if is_new_training:
            self.watching.constructed.elsewhere.update(self.entries)
            self.entries = {id(optimizer): entry}
        entry.late = False
        self.lead = entry
        self.watching.lead_changed(entry, is_new_training)

    def several_losses(self) -> bool:
        return len(self.entries) > 1 and sum(1 for entry in self.entries.values() if entry.own_loss) > 1

    def rates(self, row: Row, entry: TrackedOptimizer, prefix: str) -> None:
        """Learning rates of the groups; a sudden change is an event."""
        optimizer = entry.ref()
        groups = optimizer.param_groups if optimizer is not None else ()
        previous_count, entry.groups = entry.groups, len(groups)
        if 0 < previous_count < len(groups):
            self.watching.recorder.event("parameters_added", f"{entry.name} was given a further group")
        first_groups = groups if len(groups) <= FEW_GROUPS else groups[:1]
        self.record_rates(row, entry, [group.get("lr") for group in first_groups], prefix=prefix)

    def record_rates(
        self,
        row: Row,
        entry: TrackedOptimizer,
        rates: list[object],
        step: int | None = None,
        prefix: str = "",
    ) -> None:
        """The rate of the first group, and of others where they differ."""
        first = rate_of(rates[0]) if rates else None
        if first is None:
            return
        row[prefix + "lr"] = first
        for number, value in enumerate(rates[1:], 1):
            rate = rate_of(value)
            if rate is not None and rate != first:
                row[f"{prefix}lr/group{number}"] = rate
        self._changed_rate(entry, first, step)

    def _changed_rate(self, entry: TrackedOptimizer, first: float, step: int | None) -> None:
        """A rate that jumps is an event."""
        last, entry.rate = entry.rate, first
        entry.highest = max(entry.highest, first)
        # At the end of a decay, a rate that is nothing becomes another nothing.
        if first == last or not last or first <= 0 or max(first, last) < _SMALL * entry.highest:
            return
        if not 1 / _JUMP <= first / last <= _JUMP:
            text = f"learning rate of {entry.name} from {last:g} to {first:g}"
            self.watching.recorder.event("lr_jump", text, step=step)


def _is_new_training(entry: TrackedOptimizer, lead: TrackedOptimizer) -> bool:
    """One that was made after the lead had begun, for other parameters, is another training."""
    lead_optimizer, optimizer = lead.ref(), entry.ref()
    if lead_optimizer is None:
        return True
    if not entry.late or optimizer is None:
        return False
    return parameter_ids(lead_optimizer).isdisjoint(parameter_ids(optimizer))


class Hidden:
    """An optimizer whose steps run inside compiled code, where no hook is called: its own count shows."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._ref = weakref.ref(optimizer)
        self._count: float | None = -1.0

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        optimizer = self._ref()
        if optimizer is None:
            raise LookupError("the optimizer is gone")
        return optimizer

    def stepped(self) -> bool:
        """Whether it has stepped since the last call; assumed where it does not count its steps."""
        previous, self._count = self._count, self.counted()
        return self._count is None or self._count != previous

    def counted(self) -> float | None:
        for group in self.optimizer.param_groups:
            for parameter in group["params"][:1]:
                count = self.optimizer.state.get(parameter, {}).get("step")
                if isinstance(count, torch.Tensor):
                    return float(count) if count.is_cpu else None
                return float(count) if isinstance(count, int | float) else None
        return None


def has_closure(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Whether an optimizer's `step` was given one."""
    return (len(args) > 1 and callable(args[1])) or (bool(kwargs) and kwargs.get("closure") is not None)


def rate_of(value: object) -> float | None:
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 and value.device.type == "cpu" else None
    return float(value) if isinstance(value, int | float) else None
