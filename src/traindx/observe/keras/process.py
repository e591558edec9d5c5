"""One watched process that trains by Keras: its probes, guarded, and how they are switched off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traindx.observe.keras.critical import Critical
from traindx.observe.keras.names import LayerNames
from traindx.observe.keras.setup_facts import KerasFacts
from traindx.observe.keras.steps import KerasSteps
from traindx.observe.keras.tap import Tap, leave_open
from traindx.observe.recorder import Recorder, Stopped
from traindx.observe.signals import let_through


class KerasTraining:
    """What the patches report to: a probe that fails is off, the training continues.

    `keeps_models`: models that have trained are kept alive, to be saved at the end.
    """

    keeps_models = False

    def __init__(self, recorder: Recorder, backend: str) -> None:
        self.recorder = recorder
        self.backend = backend
        self.active = True
        self.removals: list[Callable[[], object]] = []
        self.names = LayerNames()
        self.facts = KerasFacts(self)
        self.critical = Critical(self)
        self.steps = KerasSteps(self)

    def guard(self, probe: str, function: Callable[..., object], *args: Any) -> None:
        """Call a probe unless it is off; switch it off if it fails."""
        if probe in self.recorder.off:
            return
        try:
            function(*args)
        except Exception as error:
            let_through(error)
            self.recorder.failed(probe, error)

    def tap(self, full: bool, *, activations: bool = True, **kind: bool) -> Tap:
        """For the step that is traced or run now."""
        with_activations = activations and "activations" not in self.recorder.off
        functional = self.backend == "jax"
        return Tap(full, self.recorder.failed, activations=with_activations, functional=functional, **kind)

    def stepped(self, tap: Tap, out: dict[str, Any], began: float, **how: Any) -> None:
        """A step ended; raises only what is to stop the training."""
        try:
            self.steps.done(tap, out, began, **how)
        except Stopped:
            raise
        except Exception as error:
            let_through(error)
            self.recorder.failed("steps", error)
            self.active = False

    def close(self) -> None:
        """What is still open is written; Keras is as it was."""
        if not self.active and not self.removals:
            return
        self.active = False
        leave_open(None)
        self.guard("facts", self.facts.end)
        for remove in self.removals:
            remove()
        self.removals.clear()
