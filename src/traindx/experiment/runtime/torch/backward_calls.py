"""Calls of `backward`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from traindx.observe.torch.patches import Patches

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Training


def touch_backward(training: Training, patches: Patches) -> list[Callable[[], object]]:
    """`Tensor.backward` ends in this function of torch, too."""

    def touched(original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if training.aside or torch.compiler.is_compiling():
                return original(tensors, *args, **kwargs)
            listed = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
            training.tell("before_backward", listed)
            training.in_backward = True
            try:
                result = original(listed, *args, **kwargs)
            finally:
                training.in_backward = False
            training.tell("after_backward")
            return result

        return backward

    patches.replace(torch.autograd, "backward", touched)
    return []
