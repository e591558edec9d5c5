"""The optimizer, its settings and the parameters it holds."""

from __future__ import annotations

import weakref
from typing import Any, Literal

from traindx.experiment.runtime import rate_groups
from traindx.experiment.runtime.hooks import Hooks, change

_MOMENTUM = 0.9
# Parts of a model may join the loss only after the first steps.
_LOOKS = 20


@change(knobs=("momentum", "beta1"), least={"value": 0}, most={"value": 0.9999})
def set_momentum(hooks: Hooks, *, value: float) -> None:
    """Set the momentum, or the first beta of Adam and its kin.

    Out of reach: updates written by hand, and optimizers that have no such setting.
    """
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any]) -> dict[str, Any]:
        if "momentum" in group:
            return {"momentum": value}
        return {"betas": (value, *group["betas"][1:])} if "betas" in group else {}

    set_in_groups(hooks, new, "momentum")


@change(knobs=("beta1", "beta2"), least={"beta1": 0, "beta2": 0}, most={"beta1": 0.9999, "beta2": 0.99999})
def set_betas(hooks: Hooks, *, beta1: float, beta2: float) -> None:
    """Set the two betas of Adam and its kin.

    Out of reach: updates written by hand, and optimizers that have no such setting.
    """
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any]) -> dict[str, Any]:
        return {"betas": (beta1, beta2, *group["betas"][2:])} if "betas" in group else {}

    set_in_groups(hooks, new, "betas")


@change(knobs=("eps",), above={"value": 0})
def set_eps(hooks: Hooks, *, value: float) -> None:
    """Set the eps that keeps Adam and its kin from dividing by zero.

    Out of reach: updates written by hand, and optimizers that have no such setting.
    """
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any]) -> dict[str, Any]:
        return {"eps": value} if isinstance(group.get("eps"), float) else {}

    set_in_groups(hooks, new, "eps")


@change(knobs=("weight_decay",), least={"value": 0})
def set_weight_decay(hooks: Hooks, *, value: float) -> None:
    """Set the weight decay.

    Groups that the script keeps free of decay while others have one stay free.

    Out of reach: updates written by hand, and optimizers that have no such setting.
    """
    from traindx.experiment.runtime.rate_groups import set_in_groups

    def new(group: dict[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
        free = not group.get("weight_decay") and any(
            other_group.get("weight_decay") for other_group in groups
        )
        return {"weight_decay": value} if "weight_decay" in group and not free else {}

    set_in_groups(hooks, new, "weight decay", whole=True)


@change(knobs=("optimizer", "lr"), least={"lr": 0})
def swap_optimizer(hooks: Hooks, *, name: Literal["adamw", "adam", "sgd"], lr: float = 0.0) -> None:
    """Train with another optimizer: AdamW, Adam or SGD with momentum 0.9.

    At the end of its construction every optimizer becomes one of the named kind, with that kind's defaults
    for all the script did not say itself. It stays the same object, so schedules go on. With `lr` the rate
    is set as `set_lr` does; without (0) the script's rate stays, which rarely suits another kind of
    optimizer.

    Out of reach: updates written by hand, and optimizers that are no classes of torch's `Optimizer`.
    """
    import torch

    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name]
    # Made once and thrown away: its class counts as set up, and its defaults are this version's.
    plain: dict[str, Any] = dict(kind([torch.zeros(1, requires_grad=True)], lr=1e-3).defaults)
    if name == "sgd":
        plain["momentum"] = _MOMENTUM
    del plain["lr"]

    def swap(optimizer: Any, arguments: dict[str, Any]) -> None:
        old_kind = type(optimizer)
        if old_kind is kind:
            hooks.otherwise(f"the script trains with {kind.__name__} already")
            return
        own_methods = _methods_of_its_own(optimizer)
        if own_methods:
            hooks.otherwise(
                f"{old_kind.__name__} is the script's own and has methods of its own ({own_methods[0]})"
            )
            return
        defaults = optimizer.defaults
        for group in optimizer.param_groups:
            # What the script said: to the optimizer, or in this group.
            own_settings = {
                key: group[key]
                for key in plain
                if key in group and _set_by_script(key, group, arguments, defaults)
            }
            for key in defaults.keys() - {"lr"}:
                group.pop(key, None)
            group.update(plain | own_settings)
        optimizer.defaults = (
            plain | {key: arguments[key] for key in plain if key in arguments} | {"lr": defaults["lr"]}
        )
        optimizer.__class__ = kind
        optimizer.state.clear()
        reported = {key: optimizer.param_groups[0].get(key) for key in ("betas", "momentum", "weight_decay")}
        settings = ", ".join(f"{key} {value}" for key, value in reported.items() if value is not None)
        hooks.changed(f"{old_kind.__name__} -> {kind.__name__} ({settings})")

    hooks.otherwise("no optimizer of torch was made")
    hooks.optimizer_made(swap)
    if lr:
        hooks.rate(rate_groups.to_value(hooks, lr))


def _methods_of_its_own(optimizer: Any) -> list[str]:
    """What the script may call that another optimizer does not have."""
    import torch

    if type(optimizer).__module__.startswith("torch.optim"):
        return []
    common = dir(torch.optim.Optimizer)
    return [name for name in dir(type(optimizer)) if not name.startswith("_") and name not in common]


def _set_by_script(
    key: str, group: dict[str, Any], arguments: dict[str, Any], defaults: dict[str, Any]
) -> bool:
    return key in arguments or (key in defaults and group[key] != defaults[key])


@change(knobs=("parameters",))
def train_all_parameters(hooks: Hooks) -> None:
    """Give the optimizer every parameter that the loss is computed from.

    When the first backward pass begins, parameters behind the loss that no optimizer holds (a head that was
    added later, layers in a plain list, a model replaced or moved after the optimizer was made) join the
    first group of the first optimizer.

    Out of reach: parameters that are frozen (`requires_grad=False`) or cut off by `detach`, and sharded
    ones.
    """
    from torch import nn

    from traindx.experiment.runtime.torch.tracing import leaves_behind

    references: list[Any] = []
    passes = 0

    def backward(losses: Any) -> None:
        nonlocal passes
        optimizers = [optimizer for ref in references if (optimizer := ref()) is not None]
        if passes >= _LOOKS or not optimizers:
            return
        passes += 1
        groups = [group for optimizer in optimizers for group in optimizer.param_groups]
        held_ids = {id(parameter) for group in groups for parameter in group["params"]}
        behind = leaves_behind(losses)
        free = [
            parameter
            for parameter in behind
            if isinstance(parameter, nn.Parameter) and id(parameter) not in held_ids
        ]
        if not free:
            hooks.otherwise(f"an optimizer holds all {len(behind)} parameters behind the loss")
            return
        group = optimizers[0].param_groups[0]
        group["params"].extend(free)
        count = sum(parameter.numel() for parameter in free)
        hooks.changed(
            f"{len(free)} of {len(behind)} parameters behind the loss ({count:,} numbers) were in no "
            f"optimizer; {type(optimizers[0]).__name__} has them now"
        )

    hooks.otherwise("no backward pass was seen")
    hooks.optimizer_made(lambda optimizer, _: references.append(weakref.ref(optimizer)))
    hooks.before_backward(backward)
