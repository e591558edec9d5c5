"""Patch torch at the places where something is registered, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from traindx.intervene.pytorch.backward import touch_backward
from traindx.intervene.pytorch.calls import touch_calls
from traindx.intervene.pytorch.functions import touch_functions
from traindx.intervene.pytorch.loaders import touch_loaders
from traindx.intervene.pytorch.losses import touch_losses
from traindx.intervene.pytorch.making import touch_making
from traindx.intervene.pytorch.stepping import touch_stepping
from traindx.record.pytorch.patches import Patches

if TYPE_CHECKING:
    from traindx.intervene.joints import Training

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
