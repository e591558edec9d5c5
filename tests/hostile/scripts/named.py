"""A training whose layers, metrics and last words have the names in $NAMES; it diverges."""

import json
import os

import torch
from torch import nn

import traindx

names = json.loads(os.environ["NAMES"])
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.named = nn.ModuleDict()
        for name in names:
            self.named.add_module(name.replace(".", "_"), nn.Linear(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        for layer in self.named.values():
            x = x + torch.relu(layer(x))
        return x[:, :2]


Net.__name__ = Net.__qualname__ = names[0]
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
for step in range(40):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    traindx.log({name: float(step) for name in names})
    said = f"step {step} loss {loss.item():.4f} {names[step % len(names)]}: {step}"
    print(said.encode("utf-8", "replace").decode())
raise RuntimeError("".join(names))
