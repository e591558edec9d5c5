"""Two-view contrastive pretraining (NT-Xent, high temperature) followed by a retrieval check."""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(90)
rng = np.random.default_rng(90)
W1 = torch.tensor(rng.normal(size=(12, 64)) / 2, dtype=torch.float32)
W2 = torch.tensor(rng.normal(size=(64, 40)) / 6, dtype=torch.float32)


def views(latent):
    def one():
        z = torch.cat([latent, 1.2 * torch.randn(len(latent), 6)], 1)
        return torch.tanh(z @ W1) @ W2 + .25 * torch.randn(len(latent), 40)
    return one(), one()


def nt_xent(a, b, tau):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(-1e9)
    n = len(a)
    return F.cross_entropy(sim, torch.cat([torch.arange(n) + n, torch.arange(n)]))


enc = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 32))
opt = torch.optim.Adam(enc.parameters(), lr=1e-3)
B, TAU = 128, 1.0
gallery = torch.randn(300, 6)
ga, gb = views(gallery)
for step in range(1, 2001):
    a, b = views(torch.randn(B, 6))
    loss = nt_xent(enc(a), enc(b), TAU)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        with torch.no_grad():
            s = F.normalize(enc(ga), dim=1) @ F.normalize(enc(gb), dim=1).T
            r5 = (s.topk(5, 1).indices == torch.arange(300)[:, None]).any(1).float().mean()
        print(f"step {step:4d}  loss {loss.item():.4f}  (log(2B-1) = {math.log(2 * B - 1):.4f})  retrieval@5 of 300: {r5:.4f}")
