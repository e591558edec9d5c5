"""Limit every element of the gradients before each step.

Elements beyond -`limit` and `limit` are cut off, right before the gradients are used.

Out of reach: updates written by hand without an optimizer of torch.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.joints import Intervention, Joints
from traindx.experiment.runtime.rate_groups import with_gradients

INTERVENTION = Intervention(
    title="Limit every element of the gradients before each step.",
    knobs=("clip",),
    above={"limit": 0},
)


def apply(joints: Joints, *, limit: float) -> None:
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
        with joints.aside():
            torch.nn.utils.clip_grad_value_(held, limit)
        if clipped == 1:
            joints.changed(f"elements of gradients are limited to {limit:g}; the first beyond was {top:.4g}")
        elif not clipped:
            joints.otherwise(f"no element of a gradient was beyond {limit:g}: the largest was {largest:.4g}")

    def end() -> None:
        if clipped:
            joints.changed(f"{clipped} of {steps} steps were limited, the largest element was {largest:.4g}")

    joints.otherwise("no optimizer of torch took a step")
    joints.at_end(end)
    joints.gradients(clip)
