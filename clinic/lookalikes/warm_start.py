"""Start from the least-squares solution of last month and polish it on this month's data."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)


class Scorer(nn.Module):
    def __init__(self, n_in=20, n_hidden=160):
        super().__init__()
        self.body = nn.Linear(n_in, n_hidden)
        self.head = nn.Linear(n_hidden, 1)

    def forward(self, x):
        return self.head(torch.relu(self.body(x))).squeeze(-1)


def make(n, shift=0.0):
    g = torch.Generator().manual_seed(int(n + 100 * shift))
    x = torch.randn(n, 20, generator=g)
    y = 0.8 * x[:, 0] + (0.5 + shift) * x[:, 1] + 0.2 * x[:, 2].clamp(min=0) - 0.5 * x[:, 3:6].sum(1)
    return x, y + 0.4 * torch.randn(n, generator=g)


def load_last_month(model):
    x, y = make(6000)
    with torch.no_grad():
        h = torch.relu(model.body(x))
        h = torch.cat([h, torch.ones(len(h), 1)], 1)
        solution = torch.linalg.lstsq(h.T @ h + 1e-2 * torch.eye(161), h.T @ y[:, None]).solution[:, 0]
        model.head.weight.copy_(solution[None, :-1])
        model.head.bias.copy_(solution[-1:])


model = Scorer()
load_last_month(model)
x, y = make(3000, shift=0.1)
xv, yv = make(800, shift=0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
with torch.no_grad():
    print("before: val loss", F.mse_loss(model(xv), yv).item())
for epoch in range(12):
    order = torch.randperm(len(x))
    for b in order.split(128):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[b]), y[b])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(f"epoch {epoch}: train loss {loss.item():.4f} val loss {F.mse_loss(model(xv), yv).item():.4f}")
