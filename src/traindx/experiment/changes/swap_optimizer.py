"""Train with another optimizer: AdamW, Adam or SGD with momentum 0.9.

At the end of its construction every optimizer becomes one of the named kind, with that kind's defaults for
all the script did not say itself. It stays the same object, so schedules go on. With `lr` the rate is set
as `set_lr` does; without (0) the script's rate stays, which rarely suits another kind of optimizer.

Out of reach: updates written by hand, and optimizers that are no classes of torch's `Optimizer`.
"""

from __future__ import annotations

from typing import Any, Literal

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Train with another optimizer.",
    knobs=("optimizer", "lr"),
    least={"lr": 0},
)
_MOMENTUM = 0.9


def apply(hooks: Hooks, *, name: Literal["adamw", "adam", "sgd"], lr: float = 0.0) -> None:
    import torch

    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name]
    # Made once and thrown away: its class counts as set up, and its defaults are this version's.
    plain: dict[str, Any] = dict(kind([torch.zeros(1, requires_grad=True)], lr=1e-3).defaults)
    if name == "sgd":
        plain["momentum"] = _MOMENTUM
    del plain["lr"]

    def swap(optimizer: Any, given: dict[str, Any]) -> None:
        before = type(optimizer)
        if before is kind:
            hooks.otherwise(f"the script trains with {kind.__name__} already")
            return
        more = _methods_of_its_own(optimizer)
        if more:
            hooks.otherwise(f"{before.__name__} is the script's own and has methods of its own ({more[0]})")
            return
        made = optimizer.defaults
        for group in optimizer.param_groups:
            # What the script said: to the optimizer, or in this group.
            kept = {key: group[key] for key in plain if key in group and _said(key, group, given, made)}
            for key in made.keys() - {"lr"}:
                group.pop(key, None)
            group.update(plain | kept)
        optimizer.defaults = plain | {key: given[key] for key in plain if key in given} | {"lr": made["lr"]}
        optimizer.__class__ = kind
        optimizer.state.clear()
        shown = {key: optimizer.param_groups[0].get(key) for key in ("betas", "momentum", "weight_decay")}
        settings = ", ".join(f"{key} {value}" for key, value in shown.items() if value is not None)
        hooks.changed(f"{before.__name__} -> {kind.__name__} ({settings})")

    hooks.otherwise("no optimizer of torch was made")
    hooks.optimizer_made(swap)
    if lr:
        hooks.rate(rate_groups.to_value(hooks, lr))


def _methods_of_its_own(optimizer: Any) -> list[str]:
    """What the script may call that another optimizer does not have."""
    import torch

    if type(optimizer).__module__.startswith("torch.optim"):
        return []
    known = dir(torch.optim.Optimizer)
    return [name for name in dir(type(optimizer)) if not name.startswith("_") and name not in known]


def _said(key: str, group: dict[str, Any], given: dict[str, Any], made: dict[str, Any]) -> bool:
    return key in given or (key in made and group[key] != made[key])
