"""Predict next-hour buoy displacement (km) from six wind/current readings.

The GPS + eddy jitter on the target is enormous, we only hope to explain a few percent of variance.
"""
import argparse

import numpy as np
import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, default=1600)
ap.add_argument("--bs", type=int, default=512)
ap.add_argument("--lr", type=float, default=3e-3)
ap.add_argument("--seed", type=int, default=41)
args = ap.parse_args([])

rng = np.random.default_rng(args.seed)
torch.manual_seed(args.seed)

JITTER_KM = 2.5


def drift(x):
    return 0.55 * x[:, 0] - 0.35 * x[:, 1] + 0.25 * np.tanh(x[:, 2] * x[:, 3]) + 0.15 * np.cos(2 * x[:, 4])


def sample(n):
    x = rng.normal(size=(n, 6))
    y = drift(x) + JITTER_KM * rng.normal(size=n)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)[:, None]


xt, yt = sample(120_000)
xv, yv = sample(20_000)

net = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))
opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)
mse = nn.MSELoss()

perm, cursor = torch.randperm(len(xt)), 0
running = []
for step in range(1, args.steps + 1):
    if cursor + args.bs > len(xt):
        perm, cursor = torch.randperm(len(xt)), 0
    idx = perm[cursor:cursor + args.bs]
    cursor += args.bs
    net.train()
    loss = mse(net(xt[idx]), yt[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    running.append(loss.item())
    if step <= 40 and step % 10 == 0 or step % 100 == 0:
        net.eval()
        with torch.no_grad():
            pv = net(xv)
            vl = mse(pv, yv).item()
            r2 = 1 - vl / yv.var().item()
        print(f"step {step:5d}  train_mse {np.mean(running):.4f}  val_mse {vl:.4f}  val_R2 {r2:+.4f}  lr {sched.get_last_lr()[0]:.2e}")
        running = []
