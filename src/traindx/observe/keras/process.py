"""One watched process that trains by Keras."""

from __future__ import annotations

from traindx.observe.guarded_training import GuardedTraining
from traindx.observe.keras.critical import Critical
from traindx.observe.keras.names import LayerNames
from traindx.observe.keras.setup_facts import KerasFacts
from traindx.observe.keras.steps import KerasSteps
from traindx.observe.keras.tap import Tap, leave_open
from traindx.observe.recorder import Recorder


class KerasTraining(GuardedTraining):
    """What the patches report to, with a tap for each step.

    `keeps_models`: models that have trained are kept alive, to be saved at the end.
    """

    keeps_models = False
    steps: KerasSteps

    def __init__(self, recorder: Recorder, backend: str) -> None:
        super().__init__(recorder)
        self.backend = backend
        self.names = LayerNames()
        self.facts = KerasFacts(self)
        self.critical = Critical(self)
        self.steps = KerasSteps(self)

    def tap(self, full: bool, *, activations: bool = True, **kind: bool) -> Tap:
        """For the step that is traced or run now."""
        with_activations = activations and "activations" not in self.recorder.off
        functional = self.backend == "jax"
        return Tap(full, self.recorder.failed, activations=with_activations, functional=functional, **kind)

    def _end(self) -> None:
        leave_open(None)
        self.guard("facts", self.facts.end)
