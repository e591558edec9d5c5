"""Outermost calls of modules with parameters: what goes into a model, and what comes out."""

from __future__ import annotations

import contextlib
import copy
import inspect
import threading
from collections import UserDict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import nn

from traindx.observe.hooks.bus import Channel
from traindx.observe.torch.module_tensors import out_of_reach
from traindx.observe.torch.places.patches import Patches
from traindx.observe.torch.roots import unwrap

Replace = Callable[[str, torch.Tensor], torch.Tensor]


class ModelCall:
    """What a model is called with. `fresh`: nothing of it was computed by another model that trains.

    The call runs in the `contexts`.
    """

    def __init__(self, root: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.root = root
        self.args = args
        self.kwargs = kwargs
        self.contexts: list[contextlib.AbstractContextManager[Any]] = []
        self.training = torch.is_grad_enabled()
        self._names = _names(root)
        self.fresh = not any(tensor.requires_grad for _, tensor in self.tensors())

    def tensors(self) -> list[tuple[str, torch.Tensor]]:
        """All tensors in it with the names of the parameters they are given for."""
        tensors: list[tuple[str, torch.Tensor]] = []

        def see(name: str, tensor: torch.Tensor) -> torch.Tensor:
            tensors.append((name, tensor))
            return tensor

        self.replace(see)
        return tensors

    def replace(self, with_: Replace) -> None:
        """Put something else in the place of each tensor."""
        self.args = tuple(
            mapped(value, self._names[at] if at < len(self._names) else f"argument {at + 1}", with_)
            for at, value in enumerate(self.args)
        )
        self.kwargs = {name: mapped(value, name, with_) for name, value in self.kwargs.items()}


def mapped(value: Any, name: str, with_: Replace) -> Any:
    """The same structure with its tensors replaced; what stays the same stays the same object."""
    if isinstance(value, torch.Tensor):
        return with_(name, value)
    if isinstance(value, dict):
        new = {key: mapped(item, str(key), with_) for key, item in value.items()}
        if all(new[key] is value[key] for key in value):
            return value
        try:
            rebuilt = type(value)(new)  # a class of its own: BatchEncoding and the like
        except Exception:
            return new
        return rebuilt
    if isinstance(value, tuple | list):
        items = [mapped(item, name, with_) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return _copied_with(value, _attributes(value), with_)


def _attributes(value: Any) -> dict[str, Any]:
    """What batches of other classes hold: a mapping of its own, or fields."""
    if isinstance(value, UserDict):
        return {"data": value.data}
    if is_dataclass(value) and not isinstance(value, type):
        values = {field.name: getattr(value, field.name, None) for field in fields(value)}
        # What holds others of its kind may hold itself.
        return {
            key: item for key, item in values.items() if isinstance(item, torch.Tensor | dict | tuple | list)
        }
    return {}


def _copied_with(value: Any, values: dict[str, Any], with_: Replace) -> Any:
    changed = {name: new for name, old in values.items() if (new := mapped(old, name, with_)) is not old}
    if not changed:
        return value
    clone = copy.copy(value)
    for name, new in changed.items():
        object.__setattr__(clone, name, new)
    return clone


def _names(root: nn.Module) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(unwrap(root).forward).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD)


def model_calls(patches: Patches, call_event: Channel, output: Channel) -> None:
    inside = threading.local()

    def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if (
                getattr(inside, "model", False)
                or out_of_reach()
                or torch.compiler.is_compiling()
                or next(self.parameters(), None) is None
            ):
                return original(self, *args, **kwargs)
            inside.model = True
            try:
                model_call = ModelCall(self, args, kwargs)
                for call in call_event.calls:
                    call(model_call)
                with contextlib.ExitStack() as around:
                    for context in model_call.contexts:
                        around.enter_context(context)
                    result = original(self, *model_call.args, **model_call.kwargs)
            finally:
                inside.model = False
            for call in output.calls:
                result = call(result, self)
            return result

        return __call__

    patches.replace(nn.Module, "__call__", replaced)
