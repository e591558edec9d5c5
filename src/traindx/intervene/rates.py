"""A group of parameters at one step, as what sets rates sees it."""

from __future__ import annotations

from dataclasses import dataclass


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


NO_STEP = "no optimizer of torch with a learning rate took a step"
