import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
NZ = 4
G = nn.Sequential(nn.Linear(NZ, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))


def real_batch(n=128):
    a = torch.rand(n) * 2 * math.pi
    return torch.stack([a.cos(), a.sin()], 1) + 0.05 * torch.randn(n, 2)


for it in range(1, 1201):
    x = real_batch()
    fake = G(torch.randn(128, NZ))
    d_loss = (F.binary_cross_entropy_with_logits(D(x), torch.full((128, 1), 0.9))
              + F.binary_cross_entropy_with_logits(D(fake.detach()), torch.zeros(128, 1)))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = F.binary_cross_entropy_with_logits(D(fake), torch.ones(128, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if it % 50 == 0:
        with torch.no_grad():
            radius = G(torch.randn(1000, NZ)).norm(dim=1)
        print(f"iter {it:5d} loss_d {d_loss.item():.4f} loss_g {g_loss.item():.4f} "
              f"radius {radius.mean():.3f} +- {radius.std():.3f}")
