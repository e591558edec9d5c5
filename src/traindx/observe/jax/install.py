"""Begin to record trainings by JAX."""

from __future__ import annotations

from typing import Any

from traindx.observe.jax.patches import JaxPatches
from traindx.observe.jax.process import JaxTraining
from traindx.observe.recorder import Recorder

_installed: JaxTraining | None = None


def install(recorder: Recorder, jax: Any) -> JaxTraining:
    """Watch this process for a recorder; once, whoever asks again gets the same."""
    global _installed
    if _installed is not None and _installed.recorder is recorder:
        return _installed
    training = JaxTraining(recorder)
    JaxPatches(training).install(jax)
    recorder.before_close.append(training.close)
    _installed = training
    return training
