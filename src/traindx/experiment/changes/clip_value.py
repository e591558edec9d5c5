"""Limit every element of the gradients before each step.

Elements beyond -`limit` and `limit` are cut off, right before the gradients are used.

Out of reach: updates written by hand without an optimizer of torch.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks
from traindx.experiment.runtime.rate_groups import with_gradients

CHANGE = ChangeSpec(
    title="Limit every element of the gradients before each step.",
    knobs=("clip",),
    above={"limit": 0},
)


def apply(hooks: Hooks, *, limit: float) -> None:
    import torch

    steps = clipped = 0
    largest = 0.0

    def clip(optimizer: Any) -> None:
        nonlocal steps, clipped, largest
        held = with_gradients(optimizer)
        if not held:
            return
        steps += 1
        top = max(float(one.grad.detach().abs().max()) for one in held if one.grad.numel())
        largest = max(largest, top)
        clipped += not top <= limit
        with hooks.aside():
            torch.nn.utils.clip_grad_value_(held, limit)
        if clipped == 1:
            hooks.changed(f"elements of gradients are limited to {limit:g}; the first beyond was {top:.4g}")
        elif not clipped:
            hooks.otherwise(f"no element of a gradient was beyond {limit:g}: the largest was {largest:.4g}")

    def end() -> None:
        if clipped:
            hooks.changed(f"{clipped} of {steps} steps were limited, the largest element was {largest:.4g}")

    hooks.otherwise("no optimizer of torch took a step")
    hooks.at_end(end)
    hooks.gradients(clip)
