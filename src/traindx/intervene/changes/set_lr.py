"""Set the learning rate.

The first group's rate becomes `value`; other groups and other optimizers keep their ratio to it, and a
schedule keeps its shape: each step is taken at the script's rate times `value` over the rate the group
was made with (for one-cycle schedules: over its peak).

Out of reach: updates written by hand without an optimizer of torch, and optimizers without a rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.intervene import rates
from traindx.intervene.unit import Intervention

if TYPE_CHECKING:
    from traindx.intervene.joints import Joints

INTERVENTION = Intervention(
    title="Set the learning rate.",
    knobs=("lr",),
    above={"value": 0},
)


def apply(joints: Joints, *, value: float) -> None:
    joints.otherwise(rates.NO_STEP)
    joints.rate(rates.to_value(joints, value))
