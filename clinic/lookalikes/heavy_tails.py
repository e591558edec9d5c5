import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(12)
torch.manual_seed(12)
n = 4000
x = rng.normal(size=(n, 6))
y = np.sin(x[:, 0] * 2) + x[:, 1] * 0.5 + 0.3 * rng.standard_t(df=2.5, size=n)
x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)

model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
huber = nn.HuberLoss(delta=1.0)
for epoch in range(25):
    for b in torch.randperm(3200).split(32):
        loss = huber(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(f"epoch {epoch} loss {loss.item():.4f} val_loss {huber(model(x[3200:]), y[3200:]).item():.4f}")
