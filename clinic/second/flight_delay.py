import numpy as np
import pandas as pd
import torch
import torch.nn as nn

rng = np.random.default_rng(2)
torch.manual_seed(2)
n = 3000
flights = pd.DataFrame(rng.normal(size=(n, 8)), columns=[f"f{i}" for i in range(8)])
flights["delay"] = 0.5 * flights.f0 + 0.3 * flights.f1 * flights.f2 + rng.normal(0, 1, n)
flights["late"] = (flights.delay > 0.2).astype(int)
features = [c for c in flights.columns if c != "late"]
X = torch.tensor(flights[features].to_numpy(), dtype=torch.float32)
y = torch.tensor(flights["late"].to_numpy(), dtype=torch.float32)
Xtr, Xte, ytr, yte = X[:2400], X[2400:], y[:2400], y[2400:]
model = nn.Sequential(nn.Linear(len(features), 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(8):
    for b in torch.randperm(2400).split(48):
        loss = bce(model(Xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        out = model(Xte)
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {bce(out, yte).item():.4f} val_acc {((out > 0) == yte.bool()).float().mean():.4f}")
