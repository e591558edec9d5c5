"""The inputs and outputs of modules: which tensor to sample, and when not to sample at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from traindx.observe.torch.batch_columns import MAIN_INPUTS, columns_of, is_given

_DEPTH = 3


def out_of_reach() -> bool:
    """Whether somebody is tracing or transforming: operations of ours would become part of the result."""
    return (
        torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._functorch.peek_interpreter_stack() is not None
    )


def first_float(value: Any, depth: int = _DEPTH) -> torch.Tensor | None:
    """The first tensor of real numbers in what a module gave."""
    if type(value) is torch.Tensor:
        return value if value.is_floating_point() else None
    if depth and isinstance(value, tuple | list | Mapping):
        for part in list(value.values() if isinstance(value, Mapping) else value)[:8]:
            tensor = first_float(part, depth - 1)
            if tensor is not None:
                return tensor
    return None


def real_outputs(value: Any, depth: int = _DEPTH) -> list[torch.Tensor]:
    """The tensors of real numbers, with a graph behind them, in what a module gave."""
    if type(value) is torch.Tensor:
        return [value] if value.is_floating_point() and value.grad_fn is not None else []
    if depth and isinstance(value, tuple | list | Mapping):
        parts = list(value.values() if isinstance(value, Mapping) else value)[:8]
        return [tensor for part in parts for tensor in real_outputs(part, depth - 1)]
    return []


def model_input(args: Any, kwargs: Mapping[str, Any]) -> torch.Tensor | None:
    """The tensor a model was called with: its main one, as far as names show it."""
    if args and not kwargs and _is_data(args[0]):
        only: torch.Tensor = args[0]
        return only
    for mapping in (kwargs, *(argument for argument in args if isinstance(argument, Mapping))):
        for name in MAIN_INPUTS:
            if name in mapping and _is_data(mapping[name]):
                tensor: torch.Tensor = mapping[name]
                return tensor
    first = _first_data((*args, *kwargs.values()), _DEPTH)
    arguments = {**{str(place): argument for place, argument in enumerate(args)}, **kwargs}
    columns = [column for column in columns_of(arguments) if _is_data(column.tensor)]
    # What has no name of its own is data, wherever it stands.
    wrong = {id(column.tensor) for column in columns if not all(map(is_given, column.path))}
    if first is not None and id(first) not in wrong:
        return first
    return next((column.tensor for column in columns if id(column.tensor) not in wrong), first)


def autocast_dtype(device: torch.device) -> str | None:
    """The type that autocast uses at the moment; None when it is off."""
    # Some devices (meta) know nothing of it and raise when asked.
    available = torch.amp.is_autocast_available(device.type)
    if not available or not torch.is_autocast_enabled(device.type):
        return None
    return str(torch.get_autocast_dtype(device.type)).removeprefix("torch.")


def _first_data(value: Any, depth: int) -> torch.Tensor | None:
    if _is_data(value):
        tensor: torch.Tensor = value
        return tensor
    if depth and isinstance(value, tuple | list | Mapping):
        for part in list(value.values() if isinstance(value, Mapping) else value)[:16]:
            inner = _first_data(part, depth - 1)
            if inner is not None:
                return inner
    return None


def _is_data(value: Any) -> bool:
    return type(value) is torch.Tensor and value.dim() > 0 and value.dtype is not torch.bool
