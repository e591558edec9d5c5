"""A model and its data for `traindx check`: gradients fade through twelve layers of sigmoids."""

import torch
from torch import nn


def make_model() -> nn.Sequential:
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Linear(12, 32), nn.Sigmoid()]
    for _ in range(10):
        layers += [nn.Linear(32, 32), nn.Sigmoid()]
    return nn.Sequential(*layers, nn.Linear(32, 4))


def make_loader() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    inputs = torch.randn(256, 12)
    return list(zip(inputs.split(32), inputs[:, :4].argmax(1).split(32), strict=True))
