"""The optimizers that a script has constructed, by weak reference: they must stay deletable."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.roots import parameter_ids

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


class ConstructedOptimizers:
    """All of them, also those that never step; `elsewhere` are those of other trainings and threads."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.elsewhere: set[int] = set()
        self._refs: dict[int, weakref.ref[torch.optim.Optimizer]] = {}
        self._late: set[int] = set()

    def add(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is constructed, or steps without that having been seen."""
        ref, steps = self._refs.get(id(optimizer)), self.watching.steps
        if ref is None or ref() is not optimizer:
            self._refs[id(optimizer)] = weakref.ref(optimizer)
            steps.built += 1
            self._late.discard(id(optimizer))
            if steps.optimizers.lead is not None:
                self._late.add(id(optimizer))

    def alive(self) -> list[torch.optim.Optimizer]:
        """The optimizers that still exist."""
        return [optimizer for ref in self._refs.values() if (optimizer := ref()) is not None]

    def count(self) -> int:
        """How many there are; those that are gone are forgotten."""
        if len(self._refs) > 1:
            self._refs = {key: ref for key, ref in self._refs.items() if ref() is not None}
        return len(self._refs)

    def resumed(self) -> bool:
        """Whether one had a state before its first step here: one that was loaded."""
        return any(bool(optimizer.state) for optimizer in self.alive())

    def is_late(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether it was constructed after another had begun to step."""
        return id(optimizer) in self._late

    def never_stepped(self) -> list[torch.optim.Optimizer]:
        """Those that were constructed for parameters which no other one trained."""
        known_ids = self.watching.steps.optimizers.entries.keys() | self.elsewhere
        stepped = [optimizer for optimizer in self.alive() if id(optimizer) in known_ids]
        trained_ids = parameter_ids(*stepped)
        idle = [optimizer for optimizer in self.alive() if optimizer not in stepped]
        return [optimizer for optimizer in idle if trained_ids.isdisjoint(parameter_ids(optimizer))]

    def some_to_come(self) -> bool:
        """Whether one has not stepped yet, here or in a training before."""
        if len(self._refs) < 2:
            return False
        known_ids = self.watching.steps.optimizers.entries.keys() | self.elsewhere
        return any(key not in known_ids and ref() is not None for key, ref in self._refs.items())
