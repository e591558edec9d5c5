import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def houses(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.uniform(400, 4000, n)
    lot = rng.lognormal(9, 0.6, n)
    rooms = rng.integers(1, 8, n)
    year = rng.integers(1900, 2020, n)
    distance = rng.uniform(0.1, 30, n)
    price = 0.4 * area / 1000 + 0.1 * np.log(lot) + 0.15 * rooms + 0.01 * (year - 1960) - 0.02 * distance
    price += 0.1 * rng.normal(size=n)
    x = np.stack([area, lot, rooms, year, distance], 1).astype("float32")
    return x, price.astype("float32")


x_train, y_train = houses(3000, 0)
x_val, y_val = houses(600, 1)

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.tensor(x_train), torch.tensor(y_train)), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.MSELoss()

for epoch in range(12):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(net(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        val_loss = criterion(net(torch.tensor(x_val)).squeeze(1), torch.tensor(y_val)).item()
    print(f"Epoch {epoch + 1}: train_loss={total / len(loader):.4f} val_loss={val_loss:.4f}")
