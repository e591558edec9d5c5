"""Set the two betas of Adam and its kin.

Out of reach: updates written by hand, and optimizers that have no such setting.
"""

from __future__ import annotations

from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Set the betas of Adam.",
    knobs=("beta1", "beta2"),
    least={"beta1": 0, "beta2": 0},
    most={"beta1": 0.9999, "beta2": 0.99999},
)


def apply(hooks: Hooks, *, beta1: float, beta2: float) -> None:
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any]) -> dict[str, Any]:
        return {"betas": (beta1, beta2, *group["betas"][2:])} if "betas" in group else {}

    set_in_groups(hooks, new, "betas")
