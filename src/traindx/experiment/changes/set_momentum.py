"""Set the momentum, or the first beta of Adam and its kin.

Out of reach: updates written by hand, and optimizers that have no such setting.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the momentum.",
    knobs=("momentum", "beta1"),
    least={"value": 0},
    most={"value": 0.9999},
)


def apply(hooks: Hooks, *, value: float) -> None:
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any]) -> dict[str, Any]:
        if "momentum" in group:
            return {"momentum": value}
        return {"betas": (value, *group["betas"][1:])} if "betas" in group else {}

    set_in_groups(hooks, new, "momentum")
