"""The optimizers of a training: which one's steps are counted, and what its groups are set to."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.roots import optimizer_parameters
from traindx.observe.torch.scalars import Row

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

FEW_GROUPS = 8
_JUMP = 3.0
_SMALL = 1e-2


class Known:
    """An optimizer that has been seen, by weak reference: it must be able to go."""

    def __init__(self, optimizer: torch.optim.Optimizer, name: str) -> None:
        self.ref = weakref.ref(optimizer)
        self.name = name
        self.count = 0
        self.own_loss = False
        self.alone = 0
        self.late = False
        self.rate: float | None = None
        self.groups = 0
        self.highest = 0.0


class Optimizers:
    """All that have stepped; the lead is the one whose steps are the training's, mostly the only one."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.known: dict[int, Known] = {}
        self.lead: Known | None = None

    def know(self, optimizer: torch.optim.Optimizer) -> Known:
        known = self.known.get(id(optimizer))
        if known is None or known.ref() is not optimizer:
            known = Known(optimizer, self.watching.optimizer_name(optimizer, len(self.known)))
            known.late = self.lead is not None and self.watching.constructed.is_late(optimizer)
            self.known[id(optimizer)] = known
            another = self.lead is not None and known.late and _another(known, self.lead)
            self.watching.new_optimizer(optimizer, known, another)
        return known

    def steps_of(self, optimizer: torch.optim.Optimizer) -> int:
        """Steps an optimizer has taken so far."""
        known = self.known.get(id(optimizer))
        return known.count if known is not None else 0

    def follow(self, known: Known) -> bool:
        """Whether this step is one of the lead's. One that steps twice while the lead rests takes over."""
        lead = self.lead
        if lead is None:
            self.lead = known
        elif known is lead:
            if len(self.known) > 1:
                for other in self.known.values():
                    other.alone = 0
        else:
            known.alone += 1
            if lead.ref() is not None and not known.late and known.alone < 2:
                return False
            self._take_over(known, lead)
        return True

    def _take_over(self, known: Known, lead: Known) -> None:
        now, another = known.ref(), _another(known, lead)
        if another:
            self.watching.constructed.elsewhere.update(self.known)
            self.known = {id(now): known}
        known.late = False
        self.lead = known
        self.watching.lead_changed(known, another)

    def several_losses(self) -> bool:
        return len(self.known) > 1 and sum(1 for one in self.known.values() if one.own_loss) > 1

    def rates(self, row: Row, known: Known, prefix: str) -> None:
        """Learning rates of the groups; a sudden change is an event."""
        optimizer = known.ref()
        groups = optimizer.param_groups if optimizer is not None else ()
        before, known.groups = known.groups, len(groups)
        if 0 < before < len(groups):
            self.watching.recorder.event("parameters_added", f"{known.name} was given a further group")
        few = groups if len(groups) <= FEW_GROUPS else groups[:1]
        self.record_rates(row, known, [group.get("lr") for group in few], prefix=prefix)

    def record_rates(
        self, row: Row, known: Known, rates: list[object], step: int | None = None, prefix: str = ""
    ) -> None:
        """The rate of the first group, and of others where they differ."""
        first = rate_of(rates[0]) if rates else None
        if first is None:
            return
        row[prefix + "lr"] = first
        for number, other in enumerate(rates[1:], 1):
            rate = rate_of(other)
            if rate is not None and rate != first:
                row[f"{prefix}lr/group{number}"] = rate
        self._changed_rate(known, first, step)

    def _changed_rate(self, known: Known, first: float, step: int | None) -> None:
        """A rate that jumps is an event."""
        last, known.rate = known.rate, first
        known.highest = max(known.highest, first)
        # At the end of a decay, a rate that is nothing becomes another nothing.
        if first == last or not last or first <= 0 or max(first, last) < _SMALL * known.highest:
            return
        if not 1 / _JUMP <= first / last <= _JUMP:
            text = f"learning rate of {known.name} from {last:g} to {first:g}"
            self.watching.recorder.event("lr_jump", text, step=step)


def _another(known: Known, lead: Known) -> bool:
    """One that was made after the lead had begun, for other parameters, is another training."""
    before, now = lead.ref(), known.ref()
    return before is None or (known.late and now is not None and not _share(before, now))


def _share(one: torch.optim.Optimizer, other: torch.optim.Optimizer) -> bool:
    parameters = {id(parameter) for parameter in optimizer_parameters(one)}
    return any(id(parameter) in parameters for parameter in optimizer_parameters(other))


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
        """Whether it has stepped since this was asked last; taken for granted where it does not count."""
        before, self._count = self._count, self.counted()
        return self._count is None or self._count != before

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
