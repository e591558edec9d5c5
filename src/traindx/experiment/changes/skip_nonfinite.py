"""Leave out steps whose gradients are not finite.

Before each step the gradients are looked at; if one holds a NaN or an infinity, all of that optimizer's are
removed, and the step leaves the parameters as they are.

Out of reach: running statistics of batch norm, which the bad batch has passed by then; updates written by
hand.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks
from traindx.experiment.runtime.rate_groups import with_gradients

CHANGE = ChangeSpec(title="Leave out steps whose gradients are not finite.", knobs=("data",))


def apply(hooks: Hooks) -> None:
    import torch

    steps = skipped = 0

    def look(optimizer: Any) -> None:
        nonlocal steps, skipped
        steps += 1
        held = with_gradients(optimizer)
        if all(bool(torch.isfinite(_values(one.grad)).all()) for one in held):
            if not skipped:
                hooks.otherwise(f"all gradients of {steps} steps were finite")
            return
        skipped += 1
        if skipped == 1:
            hooks.changed(f"step {steps} is the first to be left out: its gradients are not finite")
        for one in held:
            one.grad = None

    def end() -> None:
        if skipped:
            hooks.changed(f"{skipped} of {steps} steps were left out")

    hooks.otherwise("no optimizer of torch took a step")
    hooks.at_end(end)
    hooks.gradients(look)


def _values(gradient: Any) -> Any:
    return gradient._values() if gradient.is_sparse else gradient
