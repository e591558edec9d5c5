"""Begin to record: the recorder listens to the bus."""

from __future__ import annotations

from collections.abc import Callable

from traindx.observe.recorder import Recorder
from traindx.observe.torch import places
from traindx.observe.torch.process import Watching

_installed: Watching | None = None


def install(recorder: Recorder, _torch: object = None) -> Watching:
    """Watch this process for a recorder; once, whoever asks again gets the same."""
    global _installed
    if _installed is not None and _installed.active:
        return _installed
    watching = Watching(recorder)
    listen(watching)
    watching.guard("activations", watching.sampler.plan, 1)
    recorder.before_close.append(watching.close)
    _installed = watching
    return watching


def listen(watching: Watching) -> None:
    """An event that this version of torch cannot fill is left out, and the recording says so."""

    def begin(event: str, call: Callable[..., object]) -> None:
        watching.removals.append(places.listen(event, call))

    for event, call in watching.listeners.by_event():
        watching.guard(event, begin, event, call)
