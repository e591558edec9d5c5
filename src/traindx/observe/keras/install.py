"""Begin to record trainings by Keras."""

from __future__ import annotations

from typing import Any

from traindx.observe.keras.patches import KerasPatches
from traindx.observe.keras.process import KerasTraining
from traindx.observe.recorder import Recorder

_installed: KerasTraining | None = None


def trained_models() -> list[Any]:
    """The Keras models that have trained in this process, where `KerasTraining.keeps_models` was set."""
    return [] if _installed is None else _installed.facts.models()


def install(recorder: Recorder, keras: Any) -> KerasTraining:
    """Watch this process for a recorder; once, whoever asks again gets the same."""
    global _installed
    if _installed is not None and _installed.recorder is recorder:
        return _installed
    if int(str(keras.__version__).partition(".")[0]) < 3:
        raise ValueError(f"Keras {keras.__version__}: only Keras 3 can be watched")
    training = KerasTraining(recorder, str(keras.config.backend()))
    KerasPatches(training, keras).install()
    recorder.before_close.append(training.close)
    _installed = training
    return training
