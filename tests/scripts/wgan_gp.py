"""A critic with gradient penalty: create_graph, several critic steps per generator step."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    grads = torch.autograd.grad(D(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


for it in range(12):
    for _ in range(3):
        real = torch.randn(64, 2) * 0.5 + 1
        with torch.no_grad():
            fake = G(torch.randn(64, 4))
        d_loss = D(fake).mean() - D(real).mean() + 10 * gradient_penalty(real, fake)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
    g_loss = -D(G(torch.randn(64, 4))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    print(f"iter {it} d_loss {d_loss.item():.6f} g_loss {g_loss.item():.6f}")
result(G, D, opt_g, opt_d)
