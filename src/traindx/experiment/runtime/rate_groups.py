"""A group of parameters at one step, as what sets rates sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Joints

NO_STEP = "no optimizer of torch with a learning rate took a step"


@dataclass(frozen=True)
class Group:
    """`base` is the rate the script made the group with (a schedule's peak where it names one); `share` is
    that beside the first group of the first optimizer; `script` is the rate the script would step with."""

    step: int
    index: int
    base: float
    share: float
    script: float
    optimizer: str


def told(group: Group, rate: float) -> str:
    """`lr 0.1 -> 0.01 in group 0 of SGD`."""
    return f"lr {group.script:.6g} -> {rate:.6g} in group {group.index} of {group.optimizer}"


def to_value(joints: Joints, value: float) -> Callable[[Group, float], float]:
    """The first group's rate becomes the value; schedules keep their shape, other groups their ratio."""

    def moved(group: Group, lr: float) -> float:
        if not group.base:
            joints.cannot("the learning rate is 0: there is nothing to scale a schedule by")
        # Without a schedule the rate is exactly the value.
        new = value * group.share if lr == group.base else lr / group.base * value * group.share
        if not group.step:
            joints.changed(told(group, new))
        return new

    return moved
