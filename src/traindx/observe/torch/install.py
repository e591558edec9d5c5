"""Begin to watch: everything that is patched or hooked, in one place."""

from __future__ import annotations

from traindx.observe.recorder import Recorder
from traindx.observe.torch.backward import watch_backward
from traindx.observe.torch.clipping import watch_clipping
from traindx.observe.torch.compiled import watch_compiled
from traindx.observe.torch.loading import watch_loading
from traindx.observe.torch.loss_functions import watch_losses
from traindx.observe.torch.optimizer_hooks import watch_optimizers
from traindx.observe.torch.process import Watching
from traindx.observe.torch.restoring import watch_restoring
from traindx.observe.torch.scaling import watch_scaling
from traindx.observe.torch.train_modes import watch_modes

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
