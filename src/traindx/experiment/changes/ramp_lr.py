"""Raise the learning rate exponentially from `first` to `last` over `steps` steps: the range test.

The script's own rates and schedules are set aside; other groups and other optimizers keep their ratio to
the first group. After `steps` steps the rate stays at `last`.

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

import math

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Raise the learning rate exponentially, step by step.",
    knobs=("lr",),
    above={"first": 0, "last": 0},
    least={"steps": 2},
)


def apply(hooks: Hooks, *, first: float, last: float, steps: int) -> None:
    def ramped(group: rate_groups.Group, lr: float) -> float:
        del lr
        done = min(group.step, steps - 1) / (steps - 1)
        rate = group.share * first * math.exp(math.log(last / first) * done)
        if not group.step:
            hooks.changed(
                f"{rate_groups.rate_text(group, rate)}, then up to {group.share * last:.6g} in {steps} steps"
            )
        return rate

    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(ramped)
