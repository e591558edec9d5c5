# %% [markdown]
# Pressure drop of a pump from speed, flow and temperature
# %%
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
torch.manual_seed(0)
# %%
X = rng.normal(size=(1500, 3)).astype(np.float32)
y = (X[:, 0] ** 2 - 0.7 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=1500)).astype(np.float32)[:, None]
X, y = torch.from_numpy(X), torch.from_numpy(y)
Xtr, ytr, Xte, yte = X[:1200], y[:1200], X[1200:], y[1200:]
# %%
net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.6, momentum=0.9)
hist = []
# %%
for epoch in range(15):
    for b in torch.randperm(1200).split(64):
        loss = nn.functional.mse_loss(net(Xtr[b]), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
    with torch.no_grad():
        print(epoch, "loss", np.mean(hist[-19:]), "val_loss", nn.functional.mse_loss(net(Xte), yte).item())
