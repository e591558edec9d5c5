"""Little models and data for the cases that go NaN."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

NAN, INF = float("nan"), float("inf")


def mlp(*widths: int) -> nn.Module:
    """Linear layers `fc1`, `fc2`, ... with ReLU between them."""
    torch.manual_seed(0)
    model = nn.Sequential()
    for number, (before, after) in enumerate(pairwise(widths), 1):
        if number > 1:
            model.add_module(f"relu{number - 1}", nn.ReLU())
        model.add_module(f"fc{number}", nn.Linear(before, after))
    return model


def grown(model: nn.Module, **factors: float) -> nn.Module:
    with torch.no_grad():
        for name, factor in factors.items():
            model.get_submodule(name).weight.mul_(factor)
    return model


def data(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def bad_at(tensor: Tensor, index: object, value: float = NAN) -> Tensor:
    tensor = tensor.clone()
    tensor[index] = value
    return tensor


X, Y, LABELS = data(16, 8), data(16, 1, seed=2), torch.arange(16) % 4
