import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(1)
n = 3000
df = pd.DataFrame({
    "pressure": rng.normal(1013, 8, n),
    "humidity": rng.uniform(20, 100, n),
    "wind": rng.gamma(2, 3, n),
})
df["temp"] = 0.2 * (df.pressure - 1013) - 0.1 * df.humidity + 0.3 * df.wind + rng.normal(0, 0.5, n)
df.loc[rng.choice(n, 4, replace=False), "wind"] = np.nan
mean, std = df.mean(), df.std()
df = (df - mean) / std

X = torch.tensor(df[["pressure", "humidity", "wind"]].to_numpy(), dtype=torch.float32)
y = torch.tensor(df[["temp"]].to_numpy(), dtype=torch.float32)
torch.manual_seed(3)
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(f"epoch {epoch} step {i} loss {loss.item():.4f}")
