"""Hold the learning rate where the script first set it: no schedule.

Each group keeps the rate it was made with (the peak of a one-cycle schedule), whatever a schedule or the
script sets later.

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(title="Hold the learning rate constant.", knobs=("schedule",))


def apply(hooks: Hooks) -> None:
    def held(group: rate_groups.Group, lr: float) -> float:
        if lr != group.base:
            hooks.changed(f"lr held at {group.base:.6g} in group {group.index} of {group.optimizer}")
        return group.base

    hooks.otherwise("the learning rate never left the value it was made with: there is no schedule")
    hooks.rate(held)
