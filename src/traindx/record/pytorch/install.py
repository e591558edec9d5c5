"""Begin to watch: everything that is patched or hooked, in one place."""

from __future__ import annotations

from traindx.record.pytorch.backward import watch_backward
from traindx.record.pytorch.clipping import watch_clipping
from traindx.record.pytorch.compiled import watch_compiled
from traindx.record.pytorch.loading import watch_loading
from traindx.record.pytorch.losses import watch_losses
from traindx.record.pytorch.modes import watch_modes
from traindx.record.pytorch.optimizers import watch_optimizers
from traindx.record.pytorch.restoring import watch_restoring
from traindx.record.pytorch.scaling import watch_scaling
from traindx.record.pytorch.watching import Watching
from traindx.record.recorder import Recorder

_WATCHERS = (
    watch_optimizers,
    watch_backward,
    watch_losses,
    watch_clipping,
    watch_scaling,
    watch_restoring,
    watch_loading,
    watch_modes,
    watch_compiled,
)
_installed: Watching | None = None


def install(recorder: Recorder) -> Watching:
    """Watch this process for a recorder; once, whoever asks again gets the same."""
    global _installed
    if _installed is not None and _installed.active:
        return _installed
    watching = Watching(recorder)
    for watch in _WATCHERS:
        watching.guard(watch.__name__, watch, watching)
    watching.guard("activations", watching.looks.plan, 1)
    recorder.before_close.append(watching.close)
    _installed = watching
    return watching
