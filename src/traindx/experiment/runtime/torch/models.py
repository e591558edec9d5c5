"""Models as they are called for the first time while an optimizer holds their parameters."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks


class Models:
    """Calls `first(root, given)` once for each model, before its first call that counts."""

    def __init__(self, hooks: Hooks, first: Callable[[nn.Module, Any], None]) -> None:
        self._hooks = hooks
        self._first = first
        self._seen: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._optimizers: list[weakref.ref[Any]] = []
        hooks.optimizer_made(lambda optimizer, _: self._optimizers.append(weakref.ref(optimizer)))
        hooks.model_call(self._called)

    def optimizers(self) -> list[Any]:
        return [one for ref in self._optimizers if (one := ref()) is not None]

    def group_of(self, parameter: torch.Tensor) -> dict[str, Any] | None:
        """The group of an optimizer that holds a parameter."""
        for optimizer in self.optimizers():
            for group in optimizer.param_groups:
                if any(one is parameter for one in group["params"]):
                    found: dict[str, Any] = group
                    return found
        return None

    def _called(self, call: Any, root: nn.Module) -> None:
        if root in self._seen or not self._optimizers:
            return
        if isinstance(root, torch.jit.ScriptModule):
            self._hooks.otherwise("the model is compiled by torch.jit: its inside is out of reach")
            return
        held_ids = {id(one) for o in self.optimizers() for group in o.param_groups for one in group["params"]}
        if any(id(one) in held_ids for one in root.parameters()):
            self._seen.add(root)
            self._first(root, call)
