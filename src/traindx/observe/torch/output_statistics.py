"""The answers of a model compared with its targets, on steps that are not sampled too."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import torch

from traindx.core.kinds import loss_kind
from traindx.observe.clock import perf_counter
from traindx.observe.data.answers import answer_statistics
from traindx.observe.data.batches import Batches, input_statistics

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_RARER = 1.15


class Answers:
    """The first loss function of a step is sampled, ever more rarely."""

    def __init__(self, watching: Watching, batches: Batches) -> None:
        self.watching = watching
        self.batches = batches
        self._name = ""
        self._calls, self._next = 0, 1.0 if watching.recorder.internals else inf

    def due(self, name: str) -> bool:
        """Whether to sample this call; counts it."""
        self._name = self._name or name
        if name != self._name:
            return False
        self._calls += 1
        return self._calls >= self._next

    def take(self, name: str, output: torch.Tensor, target: torch.Tensor) -> None:
        """One row of numbers at the step that is under way."""
        began = perf_counter()
        self._next = max(self._calls + 1, _RARER * self._calls)
        recorder = self.watching.recorder
        statistics = {f"target/{key}": value for key, value in self.batches.targets(target).items()}
        if output.is_floating_point():
            output = output.detach()
            numbers = {
                **input_statistics(output),
                **answer_statistics(loss_kind({"function": name}), output, target),
            }
            statistics |= {f"output/{key}": value for key, value in numbers.items()}
        recorder.row(statistics, recorder.step + 1)
        recorder.budget.spent += perf_counter() - began
