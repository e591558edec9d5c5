"""The gradients of four models in turn, each printed as a table."""

import torch
from torch import nn

import traindx

torch.manual_seed(2)
x = torch.randn(192, 16)
y = x[:, :4].argmax(1)
loader = list(zip(x.split(48), y.split(48), strict=True))


def stack(squash, depth):
    layers = [nn.Linear(16, 24), squash()]
    for _ in range(depth):
        layers += [nn.Linear(24, 24), squash()]
    return nn.Sequential(*layers, nn.Linear(24, 4))


fades = stack(nn.Sigmoid, 5)
grows = stack(nn.Identity, 3)
dead = stack(nn.ReLU, 1)
with torch.no_grad():
    for layer in grows:
        if isinstance(layer, nn.Linear):
            layer.weight.mul_(6)
    dead[0].bias[:18] = -30.0  # three quarters of the first units never fire
for name, model in (("fades", fades), ("grows", grows), ("dead", dead)):
    table = traindx.gradients(model, loader, nn.CrossEntropyLoss())
    print(f"== {name}")
    print(table)
    norms = [row["norm"] for row in table if "weight" in row["name"]]
    print(f"largest {max(norms):.3g}, smallest {min(norms):.3g}")
