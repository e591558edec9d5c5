"""One watched process that trains by JAX: its probes, guarded, and how they are switched off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traindx.observe.clock import perf_counter
from traindx.observe.jax.pytrees import leaves, names, with_paths
from traindx.observe.jax.steps import JaxSteps, StateBefore
from traindx.observe.jax.tracing import Notes, eager_notes
from traindx.observe.recorder import Recorder, Stopped
from traindx.observe.signals import let_through


class JaxTraining:
    """What the patches report to: a probe that fails is off, the training continues."""

    def __init__(self, recorder: Recorder) -> None:
        from jax._src import core

        self.recorder = recorder
        self.active = True
        self.removals: list[Callable[[], object]] = []
        self.top_level: Callable[[], bool] = core.trace_state_clean
        self.steps = JaxSteps(self)
        self._eager: dict[Any, Notes] = {}
        self._optimizers: list[dict[str, Any]] = []

    def guard(self, probe: str, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call a probe unless it is off; switch it off if it fails."""
        if probe in self.recorder.off:
            return
        try:
            function(*args, **kwargs)
        except Exception as error:
            let_through(error)
            self.recorder.failed(probe, error)

    def begins(self, function: Any, notes: Notes | None, args: Any, kwargs: Any) -> StateBefore | None:
        """A function that trains is about to be called: what it may destroy is sampled now."""
        if notes is None or not self.steps.full_next(function):
            return None
        state_before = StateBefore()
        self.guard("weights", state_before.read, notes, (args, kwargs))
        return state_before

    def stepped(
        self,
        function: Any,
        notes: Notes,
        arguments: Any,
        result: Any,
        began: float,
        state_before: StateBefore | None,
        traced: bool,
    ) -> None:
        """A function that trains has returned; raises only what is to stop the training."""
        try:
            self.steps.done(function, notes, arguments, result, began, state_before, traced)
        except Stopped:
            raise
        except Exception as error:
            let_through(error)
            self.recorder.failed("steps", error)
            self.active = False

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

    def close(self) -> None:
        """What is still open is written; JAX is as it was."""
        if not self.active and not self.removals:
            return
        self.active = False
        self.guard("facts", self.steps.end)
        for remove in self.removals:
            remove()
        self.removals.clear()
