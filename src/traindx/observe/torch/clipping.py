"""Gradient clipping by torch's own functions: the norm it finds costs nothing more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


def watch_clipping(watching: Watching) -> None:
    """`clip_grad_norm_` and `clip_grad_value_`."""
    module, quick = torch.nn.utils.clip_grad, watching.steps.quick

    def by_norm(original: Callable[..., Any]) -> Callable[..., Any]:
        def clip(parameters: Any, max_norm: float, total_norm: Any, *args: Any, **kwargs: Any) -> Any:
            if watching.active and not (quick.on and quick.clipped(total_norm, max_norm)):
                watching.guard("clipping", watching.clipped, total_norm, max_norm)
            return original(parameters, max_norm, total_norm, *args, **kwargs)

        return clip

    def whole(original: Callable[..., Any]) -> Callable[..., Any]:
        def clip(parameters: Any, max_norm: float, *args: Any, **kwargs: Any) -> Any:
            norm = original(parameters, max_norm, *args, **kwargs)
            if watching.active and not (quick.on and quick.clipped(norm, max_norm)):
                watching.guard("clipping", watching.clipped, norm, max_norm)
            return norm

        return clip

    def by_value(original: Callable[..., Any]) -> Callable[..., Any]:
        def clip(parameters: Any, clip_value: float, *args: Any, **kwargs: Any) -> Any:
            if watching.active:
                watching.guard("clipping", watching.clipped_by_value, clip_value)
            return original(parameters, clip_value, *args, **kwargs)

        return clip

    if not watching.patches.replace(module, "_clip_grads_with_norm_", by_norm):
        for owner in (module, torch.nn.utils):
            watching.patches.replace(owner, "clip_grad_norm_", whole)
    for owner in (module, torch.nn.utils):
        watching.patches.replace(owner, "clip_grad_value_", by_value)
