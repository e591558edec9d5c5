"""What a module holds itself. Scripted modules keep it in mappings that know less than a dict."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def children_of(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """The modules right inside it, with their attribute names."""
    held: Any = module._modules
    return [(name, child) for name, child in list(held.items()) if child is not None]


def parameters_of(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """The parameters that are its own, with their attribute names."""
    held: Any = module._parameters
    return [(name, one) for name, one in list(held.items()) if one is not None]


def child_at(module: nn.Module, name: str) -> nn.Module | None:
    return dict(children_of(module)).get(name)


def parameter_at(module: nn.Module, name: str) -> torch.Tensor | None:
    return dict(parameters_of(module)).get(name)
