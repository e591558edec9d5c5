"""Give the optimizer every parameter that the loss is computed from.

When the first backward pass begins, parameters behind the loss that no optimizer holds (a head that was
added later, layers in a plain list, a model replaced or moved after the optimizer was made) join the first
group of the first optimizer.

Out of reach: parameters that are frozen (`requires_grad=False`) or cut off by `detach`, and sharded ones.
"""

from __future__ import annotations

import weakref
from typing import Any

from traindx.experiment.runtime.hooks import ChangeSpec, Hooks

CHANGE = ChangeSpec(
    title="Give the optimizer every parameter that the loss is computed from.",
    knobs=("parameters",),
)
# Parts of a model may join the loss only after the first steps.
_LOOKS = 20


def apply(hooks: Hooks) -> None:
    from torch import nn

    from traindx.experiment.runtime.torch.tracing import leaves_behind

    made: list[Any] = []
    looked = 0

    def backward(losses: Any) -> None:
        nonlocal looked
        optimizers = [one for ref in made if (one := ref()) is not None]
        if looked >= _LOOKS or not optimizers:
            return
        looked += 1
        groups = [group for one in optimizers for group in one.param_groups]
        held = {id(one) for group in groups for one in group["params"]}
        behind = leaves_behind(losses)
        free = [one for one in behind if isinstance(one, nn.Parameter) and id(one) not in held]
        if not free:
            hooks.otherwise(f"an optimizer holds all {len(behind)} parameters behind the loss")
            return
        group = optimizers[0].param_groups[0]
        group["params"].extend(free)
        count = sum(one.numel() for one in free)
        hooks.changed(
            f"{len(free)} of {len(behind)} parameters behind the loss ({count:,} numbers) were in no "
            f"optimizer; {type(optimizers[0]).__name__} has them now"
        )

    hooks.otherwise("no backward pass was seen")
    hooks.optimizer_made(lambda optimizer, _: made.append(weakref.ref(optimizer)))
    hooks.before_backward(backward)
