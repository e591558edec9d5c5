import torch
from torch import nn

BATCH = 1


def thermostat(n, g):
    x = torch.randn(n, 9, generator=g)
    return x, torch.tanh(x[:, 0] + 0.5 * x[:, 1]) - 0.3 * x[:, 2]


g = torch.Generator().manual_seed(3)
torch.manual_seed(3)
x, y = thermostat(1500, g)
xv, yv = thermostat(512, g)
model = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
for epoch in range(4):
    for idx in torch.randperm(len(x)).split(BATCH):
        loss = nn.functional.mse_loss(model(x[idx]).squeeze(1), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val_loss = nn.functional.mse_loss(model(xv).squeeze(1), yv)
    print(f"epoch {epoch + 1}: loss {loss.item():.5f} val_loss {val_loss.item():.5f}")
