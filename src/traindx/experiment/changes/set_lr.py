"""Set the learning rate.

The first group's rate becomes `value`; other groups and other optimizers keep their ratio to it, and a
schedule keeps its shape: each step is taken at the script's rate times `value` over the rate the group
was made with (for one-cycle schedules: over its peak).

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the learning rate.",
    knobs=("lr",),
    above={"value": 0},
)


def apply(hooks: Hooks, *, value: float) -> None:
    hooks.otherwise(rate_groups.NO_STEP)
    hooks.rate(rate_groups.to_value(hooks, value))
