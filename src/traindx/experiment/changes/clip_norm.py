"""Clip gradients to a norm before every step.

The gradients of each optimizer are scaled down to the norm `limit` when theirs is larger, right before
they are used: after any clipping of the script's own and after a GradScaler has unscaled them.

Out of reach: updates written by hand without an optimizer of torch.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks
from traindx.experiment.runtime.rate_groups import with_gradients

CHANGE = ChangeSpec(
    title="Clip gradients to a norm before every step.",
    knobs=("clip",),
    above={"limit": 0},
)


def apply(hooks: Hooks, *, limit: float) -> None:
    import torch

    largest, steps, clipped = 0.0, 0, 0

    def clip(optimizer: Any) -> None:
        nonlocal largest, steps, clipped
        parameters = with_gradients(optimizer)
        if not parameters:
            return
        steps += 1
        scale = getattr(optimizer, "grad_scale", None)
        factor = 1.0 if scale is None else float(scale)
        with hooks.aside():
            norm = float(torch.nn.utils.clip_grad_norm_(parameters, limit * factor)) / factor
        largest = max(largest, norm)
        clipped += not norm <= limit
        if clipped == 1:
            hooks.changed(f"gradient norms above {limit:g} are clipped, the first {norm:.4g}")
        elif not clipped:
            hooks.otherwise(
                f"no gradient norm was above {limit:g}: the largest in {steps} steps was {largest:.4g}"
            )

    def end() -> None:
        if clipped:
            hooks.changed(f"{clipped} of {steps} steps were clipped, the largest norm was {largest:.4g}")

    hooks.otherwise("no optimizer of torch took a step")
    hooks.at_end(end)
    hooks.gradients(clip)
