"""An arm in this process: a training that the caller runs, recorded and changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from traindx.experiment.runtime.change import Change
from traindx.experiment.runtime.hooks import ChangedTraining
from traindx.observe.recorder import current, put_back, start


@contextlib.contextmanager
def arm(
    folder: Path, changes: Sequence[Change], *, internals: bool, budget: float = 0.05
) -> Iterator[ChangedTraining]:
    """What is trained inside is recorded in the folder. No other recording may be running."""
    from traindx.observe.torch.install import install

    previous = current()
    training = ChangedTraining(changes)
    try:
        training.install()
        recorder = start(folder, budget=budget, internals=internals)
        recorder.journal.begin()
        recorder.before_close.append(training.end)
        install(recorder)
        ending, text = "finished", ""
        try:
            yield training
        except BaseException as error:
            ending, text = "exception", f"{type(error).__name__}: {error}"
            raise
        finally:
            recorder.close(ending, text)
    finally:
        training.undo()
        put_back(previous)
