"""A wide network on ninety samples, without any regularisation."""

import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(390, 40)
y = ((x[:, :3].sum(1) + 0.8 * torch.randn(390)) > 0).long()
train_x, train_y, val_x, val_y = x[:90], y[:90], x[90:], y[90:]
model = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(60):
    model.train()
    for i in range(0, 90, 30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(train_x[i : i + 30]), train_y[i : i + 30])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = nn.functional.cross_entropy(model(val_x), val_y)
    print(f"epoch {epoch} train_loss {loss.item():.4f} val_loss {val_loss.item():.4f}")
