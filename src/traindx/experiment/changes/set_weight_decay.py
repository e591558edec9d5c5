"""Set the weight decay.

Groups that the script keeps free of decay while others have one stay free.

Out of reach: updates written by hand, and optimizers that have no such setting.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the weight decay.",
    knobs=("weight_decay",),
    least={"value": 0},
)


def apply(hooks: Hooks, *, value: float) -> None:
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
        free = not group.get("weight_decay") and any(one.get("weight_decay") for one in groups)
        return {"weight_decay": value} if "weight_decay" in group and not free else {}

    set_in_groups(hooks, new, "weight decay", whole=True)
