"""Settings of an optimizer's groups other than the rate."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Joints


def set_in_groups(joints: Joints, new: Callable[..., dict[str, Any]], what: str, whole: bool = False) -> None:
    """Before every step, so that what a checkpoint brings back is set, too.

    `new(group)` are the settings to be; with `whole` it is given all groups as they were at first, too.
    """
    wanted: weakref.WeakKeyDictionary[Any, list[dict[str, Any]]] = weakref.WeakKeyDictionary()

    def before(optimizer: Any) -> None:
        groups = optimizer.param_groups
        if optimizer not in wanted:
            plain = [{key: value for key, value in group.items() if key != "params"} for group in groups]
            wanted[optimizer] = [new(group, plain) if whole else new(group) for group in plain]
            if not any(wanted[optimizer]) and not joints.has_changed:
                joints.otherwise(f"{type(optimizer).__name__} has no {what}")
        for index, (group, settings) in enumerate(zip(groups, wanted[optimizer], strict=False)):
            for key, value in settings.items():
                if group[key] != value:
                    joints.changed(
                        f"{key} {group[key]} -> {value} in group {index} of {type(optimizer).__name__}"
                    )
                    group[key] = value
                elif not joints.has_changed:
                    joints.otherwise(f"{key} is {value} already in {type(optimizer).__name__}")

    joints.otherwise("no optimizer of torch took a step")
    joints.before_step(before)
