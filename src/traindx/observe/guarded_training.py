"""A training that is watched: its probes, guarded, and how they are switched off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traindx.observe.recorder import Recorder, Stopped
from traindx.observe.signals import let_through


class GuardedTraining:
    """What the patches of a framework report to: a probe that fails is off, the training continues."""

    steps: Any

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.active = True
        self.removals: list[Callable[[], object]] = []

    def guard(self, probe: str, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call a probe unless it is off; switch it off if it fails."""
        if probe in self.recorder.off:
            return
        try:
            function(*args, **kwargs)
        except Exception as error:
            let_through(error)
            self.recorder.failed(probe, error)

    def stepped(self, *args: Any, **kwargs: Any) -> None:
        """A step ended, with the arguments of `steps.done`; raises only what is to stop the training."""
        try:
            self.steps.done(*args, **kwargs)
        except Stopped:
            raise
        except Exception as error:
            let_through(error)
            self.recorder.failed("steps", error)
            self.active = False

    def close(self) -> None:
        """Write what is still open and put the framework's functions back."""
        if not self.active and not self.removals:
            return
        self.active = False
        self._end()
        for remove in self.removals:
            remove()
        self.removals.clear()

    def _end(self) -> None:
        """Record what only the end shows."""
        raise NotImplementedError
