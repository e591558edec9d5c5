"""SGDR on hand-drawn-like symbols encoded as point sequences."""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(88)
rng = np.random.default_rng(88)
protos = rng.normal(size=(12, 4, 2)).cumsum(1)


def strokes(n):
    y = rng.integers(0, 12, n)
    p = protos[y] + rng.normal(0, .5, (n, 4, 2))
    u = np.linspace(0, 3, 32)
    i = np.minimum(u.astype(int), 2)
    w = (u - i)[None, :, None]
    path = p[:, i] * (1 - w) + p[:, i + 1] * w + rng.normal(0, .12, (n, 32, 2))
    a = rng.normal(0, .3, n)
    R = np.stack([np.stack([np.cos(a), -np.sin(a)], -1), np.stack([np.sin(a), np.cos(a)], -1)], 1)
    path = path @ R
    path -= path.mean(1, keepdims=True)
    return torch.tensor(path.transpose(0, 2, 1).copy(), dtype=torch.float32), torch.tensor(y)


X, Y = strokes(6000)
XV, YV = strokes(1500)
net = nn.Sequential(nn.Conv1d(2, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
                    nn.Conv1d(32, 48, 5, padding=2), nn.BatchNorm1d(48), nn.ReLU(), nn.MaxPool1d(2),
                    nn.Flatten(), nn.Linear(48 * 8, 64), nn.ReLU(), nn.Dropout(.2), nn.Linear(64, 12))
opt = torch.optim.SGD(net.parameters(), lr=0.15, momentum=0.9, weight_decay=5e-4, nesterov=True)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=4, T_mult=2, eta_min=1e-4)
B, n_it = 50, math.ceil(6000 / 50)
for ep in range(28):
    net.train()
    s = 0.
    for k, idx in enumerate(torch.randperm(6000).split(B)):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step(ep + k / n_it)
        s += loss.item()
    net.eval()
    with torch.no_grad():
        o = net(XV)
    print(f"epoch {ep:02d} lr={opt.param_groups[0]['lr']:.5f} train={s / n_it:.4f} val={F.cross_entropy(o, YV).item():.4f} acc={(o.argmax(1) == YV).float().mean().item():.4f}")
