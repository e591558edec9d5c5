"""Multiply the learning rate by a factor.

Every step of every optimizer is taken at the script's own rate times `factor`, whatever schedule or
line of the script sets it: schedules go on undisturbed and keep their shape. The script itself reads its
own rates, not the changed ones.

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Multiply the learning rate by a factor.",
    knobs=("lr",),
    above={"factor": 0},
)


def apply(hooks: Hooks, *, factor: float) -> None:
    def scaled(group: rate_groups.Group, lr: float) -> float:
        if not group.step:
            hooks.changed(rate_groups.rate_text(group, lr * factor))
        return lr * factor

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(scaled)
