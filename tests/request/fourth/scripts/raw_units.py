"""House prices by rooms, square centimetres and the year, all in raw units."""

import torch
from torch import nn

torch.manual_seed(7)
n = 1000
rooms = torch.randint(1, 8, (n,)).float()
area = rooms * 250_000 + 100_000 * torch.randn(n)
year = 1950 + 70 * torch.rand(n)
x = torch.stack([rooms, area, year], 1)
y = 0.3 * rooms + (year - 1950) / 100 + 0.05 * torch.randn(n)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)

for epoch in range(20):
    order = torch.randperm(800)
    for i in range(0, 800, 40):
        batch = order[i : i + 40]
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[batch])[:, 0], y[batch])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(x[800:])[:, 0], y[800:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val.item():.4f}")
