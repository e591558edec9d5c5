"""A loss of its own takes the logarithm of a probability that reaches zero."""

import torch
from torch import nn

torch.manual_seed(12)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
x = torch.randn(400, 4)
y = (x[:, 0] > 0).float()
for step in range(1500):
    batch = torch.randint(0, 400, (40,))
    p = torch.sigmoid(6 * model(x[batch])[:, 0])
    loss = -(y[batch] * torch.log(p) + (1 - y[batch]) * torch.log(1 - p)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.5f}")
