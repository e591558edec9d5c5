"""Raise the learning rate linearly over the first steps.

Step n of the first `steps` steps is taken at n/`steps` of the rate the script has by then; after that at
the script's own rate.

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Raise the learning rate linearly over the first steps.",
    knobs=("warmup",),
    least={"steps": 1},
)


def apply(hooks: Hooks, *, steps: int) -> None:
    def warmed(group: rate_groups.Group, lr: float) -> float:
        share = min(1.0, (group.step + 1) / steps)
        if not group.step:
            hooks.changed(
                f"{rate_groups.rate_text(group, lr * share)}, the script's own rate after {steps} steps"
            )
        return lr * share

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(warmed)
