"""A group of parameters at one step, as what sets rates sees it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks

NO_STEP = "no optimizer of torch took a step"


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


def rate_text(group: Group, rate: float) -> str:
    """`lr 0.1 -> 0.01 in group 0 of SGD`."""
    return f"lr {group.script:.6g} -> {rate:.6g} in group {group.index} of {group.optimizer}"


def to_value(hooks: Hooks, value: float) -> Callable[[Group, float], float]:
    """The first group's rate becomes the value; schedules keep their shape, other groups their ratio."""

    def scaled(group: Group, lr: float) -> float:
        if not group.base:
            hooks.cannot("the learning rate is 0: there is nothing to scale a schedule by")
        # Without a schedule the rate is exactly the value.
        new = value * group.share if lr == group.base else lr / group.base * value * group.share
        if not group.step:
            hooks.changed(rate_text(group, new))
        return new

    return scaled


def set_in_groups(
    hooks: Hooks, new: Callable[..., dict[str, Any]], quantity: str, whole: bool = False
) -> None:
    """Before every step, so that what a checkpoint brings back is set, too.

    `new(group)` are the settings to be; with `whole` it is given all groups as they were at first, too.
    """
    new_settings: weakref.WeakKeyDictionary[Any, list[dict[str, Any]]] = weakref.WeakKeyDictionary()

    def set_groups(optimizer: Any) -> None:
        groups = optimizer.param_groups
        if optimizer not in new_settings:
            plain = [{key: value for key, value in group.items() if key != "params"} for group in groups]
            new_settings[optimizer] = [new(group, plain) if whole else new(group) for group in plain]
            if not any(new_settings[optimizer]) and not hooks.has_changed:
                hooks.otherwise(f"{type(optimizer).__name__} has no {quantity}")
        for index, (group, settings) in enumerate(zip(groups, new_settings[optimizer], strict=False)):
            for key, value in settings.items():
                if group[key] != value:
                    hooks.changed(
                        f"{key} {group[key]} -> {value} in group {index} of {type(optimizer).__name__}"
                    )
                    group[key] = value
                elif not hooks.has_changed:
                    hooks.otherwise(f"{key} is {value} already in {type(optimizer).__name__}")

    hooks.otherwise(NO_STEP)
    hooks.before_step(set_groups)


def drop_gradients(optimizer: Any) -> None:
    """Leave the parameters of an optimizer without gradients: its step does nothing."""
    for parameter in with_gradients(optimizer):
        parameter.grad = None


def with_gradients(optimizer: Any) -> list[Any]:
    """The parameters of an optimizer that have a gradient now."""
    return [
        parameter
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.grad is not None
    ]
