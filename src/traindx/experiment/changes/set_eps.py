"""Set the eps that keeps Adam and its kin from dividing by zero.

Out of reach: updates written by hand, and optimizers that have no such setting.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the eps of the optimizer.",
    knobs=("eps",),
    above={"value": 0},
)


def apply(hooks: Hooks, *, value: float) -> None:
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any]) -> dict[str, Any]:
        return {"eps": value} if isinstance(group.get("eps"), float) else {}

    set_in_groups(hooks, new, "eps")
