"""A small regression whose loop never clears its gradients."""

import torch
from torch import nn

torch.manual_seed(0)
inputs = torch.randn(256, 8)
targets = inputs @ torch.randn(8, 1) + 0.1 * torch.randn(256, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(150):
    rows = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(model(inputs[rows]), targets[rows])
    loss.backward()
    optimizer.step()
    print(f"step {step + 1} loss {loss.item():.5f}")
