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
        self._announced: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._optimizers: list[weakref.ref[Any]] = []
        hooks.optimizer_made(lambda optimizer, _: self._optimizers.append(weakref.ref(optimizer)))
        hooks.model_call(self._on_model_call)

    def optimizers(self) -> list[Any]:
        return [optimizer for ref in self._optimizers if (optimizer := ref()) is not None]

    def group_of(self, parameter: torch.Tensor) -> dict[str, Any] | None:
        """The group of an optimizer that holds a parameter."""
        for optimizer in self.optimizers():
            for group in optimizer.param_groups:
                if any(member is parameter for member in group["params"]):
                    holder: dict[str, Any] = group
                    return holder
        return None

    def _on_model_call(self, call: Any, root: nn.Module) -> None:
        if root in self._announced or not self._optimizers:
            return
        if isinstance(root, torch.jit.ScriptModule):
            self._hooks.otherwise("the model is compiled by torch.jit: its inside is out of reach")
            return
        held_ids = {
            id(parameter)
            for o in self.optimizers()
            for group in o.param_groups
            for parameter in group["params"]
        }
        if any(id(parameter) in held_ids for parameter in root.parameters()):
            self._announced.add(root)
            self._first(root, call)
