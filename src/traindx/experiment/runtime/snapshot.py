"""A model, its optimizer and all random streams as they are now, to be put back."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import nn

# Whatever lies deeper in a loader than this draws from the streams of the process.
_STREAMS = ("generator", "sampler.generator", "batch_sampler.sampler.generator")


@contextlib.contextmanager
def state_kept(model: nn.Module, optimizer: torch.optim.Optimizer, loader: Any) -> Iterator[None]:
    """Weights, buffers, gradients, modes, the optimizer's state and settings, random streams: put back."""
    import torch

    tensors = [*model.parameters(), *model.buffers(), *tensors_held(optimizer)]
    saved = [(tensor, tensor.detach().clone()) for tensor in tensors]
    gradients = [(tensor, None if tensor.grad is None else tensor.grad.clone()) for tensor in tensors]
    settings = [
        {name: copy.deepcopy(value) for name, value in group.items() if name != "params"}
        for group in optimizer.param_groups
    ]
    state = {key: copy.deepcopy(value) for key, value in optimizer.state.items()}
    try:
        with streams(loader), modes_kept(model):
            yield
    finally:
        with torch.no_grad():
            for tensor, value in saved:
                tensor.copy_(value)
        for tensor, gradient in gradients:
            tensor.grad = gradient
        for group, options in zip(optimizer.param_groups, settings, strict=True):
            for name in [name for name in group if name != "params" and name not in options]:
                del group[name]
            group.update(options)
        optimizer.state.clear()
        optimizer.state.update(state)


@contextlib.contextmanager
def modes_kept(model: nn.Module) -> Iterator[None]:
    """The mode of every module, put back afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def tensors_held(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


@contextlib.contextmanager
def streams(loader: Any = None) -> Iterator[None]:
    """All random streams, those of the loader too, go on afterwards as if nothing had been drawn."""
    import torch

    numpy = sys.modules.get("numpy")
    loader_streams = generators(loader)
    python, arrays = random.getstate(), numpy.random.get_state() if numpy is not None else None
    states = [generator.get_state() for generator in loader_streams]
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        if numpy is not None:
            numpy.random.set_state(arrays)
        for generator, its in zip(loader_streams, states, strict=True):
            generator.set_state(its)


def seed(number: int, loader: Any = None) -> None:
    """All random streams begin anew."""
    import torch

    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    torch.manual_seed(number)
    for generator in generators(loader):
        generator.manual_seed(number)


def generators(loader: Any) -> list[torch.Generator]:
    """Random streams a loader has to itself."""
    import torch

    by_id: dict[int, torch.Generator] = {}
    for path in _STREAMS:
        value = loader
        for name in path.split("."):
            value = getattr(value, name, None)
        if isinstance(value, torch.Generator):
            by_id[id(value)] = value
    return list(by_id.values())
