"""Functions of torch that are replaced by name: activations, softmax, dropout, clipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from traindx.observe.torch.patches import Patches

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Training

_OWNERS: dict[str, Any] = {
    "F": functional,
    "torch": torch,
    "Tensor": torch.Tensor,
    "utils": torch.nn.utils,
    "clip_grad": torch.nn.utils.clip_grad,
    "autocast": torch.amp.autocast_mode.autocast,
    "GradScaler": torch.amp.GradScaler,
    "Module": torch.nn.Module,
}


def touch_functions(training: Training, patches: Patches) -> None:
    """`function:F.relu` and the like."""
    for place, calls in training.calls.items():
        kind, _, path = place.partition(":")
        if kind == "function":
            owner, _, name = path.partition(".")
            for call in calls:
                patches.replace(_OWNERS[owner], name, _touch(training, call))


def _touch(
    training: Training, call: Callable[..., Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def touched(original: Callable[..., Any]) -> Callable[..., Any]:
        def plain(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except Exception as error:
                error.traindx_script = True  # type: ignore[attr-defined]
                raise

        def function(*args: Any, **kwargs: Any) -> Any:
            aside = training.aside and not training.functions_watched
            if aside or torch.compiler.is_compiling():
                return original(*args, **kwargs)
            return call(plain, *args, **kwargs)

        return function

    return touched
