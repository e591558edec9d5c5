# GAN on a ring of eight gaussians
import torch
from torch import nn

torch.manual_seed(2)
MODES = torch.stack([torch.tensor([torch.cos(a), torch.sin(a)]) for a in torch.arange(8) * 3.14159265 / 4]) * 2


def real_batch(n):
    return MODES[torch.randint(0, 8, (n,))] + 0.12 * torch.randn(n, 2)


def mlp(i, o, h=96):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(.2), nn.Linear(h, h), nn.LeakyReLU(.2), nn.Linear(h, o))


G, D = mlp(8, 2), mlp(2, 1)
opt_g = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(.5, .99))
opt_d = torch.optim.Adam(D.parameters(), lr=5e-4, betas=(.5, .99))
bce = nn.BCEWithLogitsLoss()
B = 256
ones, zeros = torch.ones(B, 1), torch.zeros(B, 1)


def quality():
    with torch.no_grad():
        x = G(torch.randn(4000, 8))
    d, k = torch.cdist(x, MODES).min(1)
    ok = d < 0.48
    return ok.float().mean().item(), int((torch.bincount(k[ok], minlength=8) > 100).sum())


for it in range(1, 5001):
    real = real_batch(B)
    fake = G(torch.randn(B, 8)).detach()
    d_loss = bce(D(real), 0.9 * ones) + bce(D(fake), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if it % 250 == 0:
        frac, modes = quality()
        print(f"iter {it:5d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  near-mode {frac:.3f}  modes {modes}")
print("near-mode fraction: %.4f" % quality()[0])
