"""Loan default from raw application fields."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
torch.manual_seed(0)


def applications(n):
    income = rng.lognormal(10.6, 0.5, n)
    age = rng.integers(18, 80, n).astype(float)
    debt_ratio = rng.beta(2, 5, n)
    balance = rng.normal(0, 1, n) * 8000 + 15000
    late = rng.poisson(0.6, n).astype(float)
    logit = 6 * debt_ratio - 1.2 + 0.9 * late - 0.03 * (age - 45) - 0.8 * (np.log(income) - 10.6)
    y = (logit + 0.5 * rng.normal(size=n) > 0.6).astype(np.float32)
    x = np.stack([income, age, debt_ratio, balance, late], 1).astype(np.float32)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


class Scorecard(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


train_loader = DataLoader(applications(4000), batch_size=64, shuffle=True)
val_loader = DataLoader(applications(1000), batch_size=500)
model = Scorecard()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(8):
    total = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    hits, vl = 0, 0.0
    with torch.no_grad():
        for x, y in val_loader:
            o = model(x)
            vl += criterion(o, y).item() / len(val_loader)
            hits += ((o > 0) == y.bool()).sum().item()
    print(f"Epoch {epoch + 1}: train loss {total / len(train_loader):.4f} val loss {vl:.4f} val acc {hits / 1000:.3f}")
