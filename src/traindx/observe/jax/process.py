"""One watched process that trains by JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traindx.observe.clock import perf_counter
from traindx.observe.guarded_training import GuardedTraining
from traindx.observe.jax.gradients import StateBefore
from traindx.observe.jax.pytrees import leaves, names, with_paths
from traindx.observe.jax.steps import JaxSteps
from traindx.observe.jax.tracing import Notes, eager_notes
from traindx.observe.recorder import Recorder


class JaxTraining(GuardedTraining):
    """What the patches report to; functions that train are known by their notes."""

    steps: JaxSteps

    def __init__(self, recorder: Recorder) -> None:
        from jax._src import core

        super().__init__(recorder)
        self.top_level: Callable[[], bool] = core.trace_state_clean
        self.steps = JaxSteps(self)
        self._eager: dict[Any, Notes] = {}
        self._optimizers: list[dict[str, Any]] = []

    def begins(self, function: Any, notes: Notes | None, args: Any, kwargs: Any) -> StateBefore | None:
        """A function that trains is about to be called: what it may destroy is sampled now."""
        if notes is None or not self.steps.full_next(function):
            return None
        state_before = StateBefore()
        self.guard("weights", state_before.read, notes, (args, kwargs))
        return state_before

    def optimizer(self, fact: dict[str, Any]) -> None:
        """A transformation was applied outside of every compiled function."""
        if fact not in self._optimizers:
            self._optimizers.append(fact)
            self.guard("facts", self.steps.facts.optimizers, [fact])

    def eager(self, weights: Any, value: Any, gradients: Any, arguments: Any) -> None:
        """A loss was differentiated outside of every compiled function: that is a step."""
        listed, flat = with_paths(weights), leaves(arguments)
        key = tuple(names(path) for path, _ in listed)
        notes = self._eager.get(key)
        traced = notes is None
        if notes is None:
            notes = self._eager[key] = eager_notes(listed, flat, has_value=value is not None)
        result = [*([] if value is None else [value]), *leaves(gradients)]
        state_before = StateBefore() if self.steps.full_next(key) else None
        self.stepped(key, notes, arguments, result, perf_counter(), state_before, traced)

    def _end(self) -> None:
        self.guard("facts", self.steps.end)
