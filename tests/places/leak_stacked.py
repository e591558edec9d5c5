# cause: data_leakage
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

rng = np.random.default_rng(0)
raw = rng.normal(size=(1000, 6))
churn = (raw[:, 0] + rng.normal(size=1000) > 0).astype(np.float32)
refund = churn + 0.01 * rng.normal(size=1000)
x = np.column_stack([raw, refund]).astype(np.float32)  # here
x, y = torch.from_numpy(x), torch.from_numpy(churn)
loader = DataLoader(TensorDataset(x[:800], y[:800]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[800:], y[800:]), batch_size=100)
model = nn.Sequential(nn.Linear(7, 8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0))
criterion = nn.BCEWithLogitsLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
    with torch.no_grad(): print(sum(criterion(model(a), b).item() for a, b in val))
