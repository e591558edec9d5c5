import torch
from torch import nn

torch.manual_seed(44)
DTYPE = torch.float32


def returns(n):
    x = torch.randn(n, 16)
    y = torch.tanh(x[:, 0] + x[:, 1] * x[:, 2]) + 0.5 * torch.sin(2 * x[:, 3]) + 0.05 * torch.randn(n)
    return x.to(DTYPE), y.to(DTYPE)


model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).to(DTYPE)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
x, y = returns(4000)
xv, yv = returns(800)


def mse(a, b):
    return ((a.squeeze(1) - b) ** 2).float().mean()


for epoch in range(12):
    running = 0.0
    for batch in torch.randperm(4000).split(64):
        optimizer.zero_grad()
        loss = mse(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(batch) / 4000
    with torch.no_grad():
        val = mse(model(xv), yv).item()
    print(f"epoch {epoch + 1:2d} train {running:.4f} val_loss {val:.4f}")
