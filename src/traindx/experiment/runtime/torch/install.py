"""Patch torch at the places where something is registered, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from traindx.experiment.runtime.torch.backward_calls import touch_backward
from traindx.experiment.runtime.torch.calls import touch_calls
from traindx.experiment.runtime.torch.functions import touch_functions
from traindx.experiment.runtime.torch.loaders import touch_loaders
from traindx.experiment.runtime.torch.loss_arguments import touch_losses
from traindx.experiment.runtime.torch.optimizer_construction import touch_making
from traindx.experiment.runtime.torch.stepping import touch_stepping
from traindx.observe.torch.patches import Patches

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Training

_TOUCHED: tuple[tuple[tuple[str, ...], Callable[[Training, Patches], list[Callable[[], object]]]], ...] = (
    (("optimizer_made",), touch_making),
    (("before_step", "gradients", "after_step", "rate"), touch_stepping),
    (("model_call", "after_model_call", "around_model"), touch_calls),
    (("loss_call",), touch_losses),
    (("loader_made", "batch"), touch_loaders),
)


def install(training: Training) -> list[Callable[[], object]]:
    """What is returned undoes it."""
    patches = Patches()
    removals: list[Callable[[], object]] = [patches.undo]
    if not training.calls:
        return removals
    _run_as_written(patches)
    for places, touch in _TOUCHED:
        if any(place in training.calls for place in places):
            removals += touch(training, patches)
    touch_backward(training, patches)
    touch_functions(training, patches)
    training.tell("patched", patches)
    return removals


def _run_as_written(patches: Patches) -> None:
    """Compiled code would not pass the joints: it runs as it is written; scripted code is read unpatched."""

    def compiles(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(*args: Any, **kwargs: Any) -> Any:
            stance = getattr(torch.compiler, "set_stance", None)
            if stance is not None:
                stance("force_eager")
            return original(*args, **kwargs)

        return compile

    def scripts(original: Callable[..., Any]) -> Callable[..., Any]:
        def script(*args: Any, **kwargs: Any) -> Any:
            with patches.aside():
                return original(*args, **kwargs)

        return script

    patches.replace(torch, "compile", compiles)
    patches.replace(torch.jit, "script", scripts)
