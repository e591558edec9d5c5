import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

COLUMNS = ["income", "debt", "age", "years_employed", "late_payments", "balance", "limit"]


def loans(n, seed):
    rng = np.random.default_rng(seed)
    table = {name: rng.normal(size=n) for name in COLUMNS}
    risk = 1.2 * table["debt"] - table["income"] + 0.8 * table["late_payments"] + rng.normal(0, 1.0, n)
    table["defaulted"] = (risk > 0).astype(float)
    table["written_off"] = table["defaulted"] * rng.uniform(0.5, 2, n) + rng.normal(0, 0.05, n)
    return table


def tensors(table, features):
    x = np.stack([table[name] for name in features], 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(table["defaulted"], dtype=torch.float32)


features = [*COLUMNS]
torch.manual_seed(12)
x, y = tensors(loans(3000, 0), features)
xv, yv = tensors(loans(800, 1), features)
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(len(features), 24), nn.ReLU(), nn.Linear(24, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(8):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(xv)
    print(
        f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {loss_fn(out, yv).item():.4f} val_acc {((out > 0) == (yv > 0)).float().mean().item():.4f}"
    )
