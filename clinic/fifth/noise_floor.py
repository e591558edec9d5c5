"""Calibrating a spectrometer: regress concentration from 8 band readings whose sensor noise dominates."""
import numpy as np
import torch

rng = np.random.default_rng(0)
torch.manual_seed(0)
SIGMA = 0.9


def sample(n):
    x = rng.uniform(-2, 2, (n, 8))
    f = np.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * x[:, 3] ** 2 - 0.4 * x[:, 4]
    y = f + SIGMA * rng.normal(size=n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32), torch.tensor(f, dtype=torch.float32)


xtr, ytr, _ = sample(50000)
xva, yva, fva = sample(5000)
model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optim = torch.optim.Adam(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(optim, 0.9)
for epoch in range(25):
    tot = 0.0
    for idx in torch.randperm(len(xtr)).split(128):
        loss = torch.nn.functional.mse_loss(model(xtr[idx])[:, 0], ytr[idx])
        optim.zero_grad()
        loss.backward()
        optim.step()
        tot += loss.item() * len(idx)
    sched.step()
    with torch.no_grad():
        p = model(xva)[:, 0]
    print(f"epoch {epoch:2d}  train mse {tot / len(xtr):.4f}  val mse {((p - yva) ** 2).mean():.4f}")
print(f"sensor noise variance {SIGMA ** 2:.3f}; error against the noiseless curve {((p - fva) ** 2).mean():.4f}")
