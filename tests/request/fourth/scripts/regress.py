"""A small regression that trains as it should."""

import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(2000, 6)
y = torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * torch.randn(2000)
model = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for step in range(400):
    batch = torch.randint(0, 1600, (64,))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[batch])[:, 0], y[batch])
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        model.eval()
        with torch.no_grad():
            val = nn.functional.mse_loss(model(x[1600:])[:, 0], y[1600:])
        model.train()
        print(f"step {step} loss {loss.item():.4f} val_loss {val.item():.4f}")
