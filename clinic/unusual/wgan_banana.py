"""WGAN-GP that learns a banana-shaped 2-D density with a heavier upper arm."""
import torch
from torch import nn, autograd
from copy import deepcopy

torch.manual_seed(1312)
ZDIM, N_CRITIC, GP, BATCH, GEN_STEPS = 4, 4, 1.0, 256, 500


def real(n, gen=None):
    u = torch.randn(n, generator=gen)
    v = torch.randn(n, generator=gen)
    return torch.stack([u, 0.6 * (u ** 2 - 1) * 0.9 + 0.35 * v * (1 + 0.4 * torch.sigmoid(2 * u))], 1)


def mlp(i, o, act):
    return nn.Sequential(nn.Linear(i, 64), act(), nn.Linear(64, 64), act(), nn.Linear(64, o))


def energy_distance(a, b):
    d = torch.cdist
    n, m = len(a), len(b)
    return (2 * d(a, b).mean() - d(a, a).sum() / (n * (n - 1)) - d(b, b).sum() / (m * (m - 1))).item()


G, C = mlp(ZDIM, 2, nn.SiLU), mlp(2, 1, lambda: nn.LeakyReLU(0.2))
G_avg = deepcopy(G).requires_grad_(False)
opt_g = torch.optim.Adam(G.parameters(), lr=5e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=2e-3, betas=(0.0, 0.9))
decay = [torch.optim.lr_scheduler.LambdaLR(o, lambda k: min(1.0, max(0.05, 2 - 2 * k / GEN_STEPS))) for o in (opt_g, opt_c)]
held = real(3000, torch.Generator().manual_seed(8))
z_fix = torch.randn(3000, ZDIM, generator=torch.Generator().manual_seed(9))

for it in range(1, GEN_STEPS + 1):
    for _ in range(N_CRITIC):
        x = real(BATCH)
        with torch.no_grad():
            xf = G(torch.randn(BATCH, ZDIM))
        e = torch.rand(BATCH, 1)
        xi = (e * x + (1 - e) * xf).requires_grad_(True)
        gr, = autograd.grad(C(xi).sum(), xi, create_graph=True)
        gp = ((gr.norm(dim=1) - 1) ** 2).mean()
        w = C(x).mean() - C(xf).mean()
        loss_c = -w + GP * gp
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    C.requires_grad_(False)
    loss_g = -C(G(torch.randn(BATCH, ZDIM))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    C.requires_grad_(True)
    for s in decay:
        s.step()
    with torch.no_grad():
        for p, q in zip(G_avg.parameters(), G.parameters()):
            p.lerp_(q, 0.02)
    if it % 50 == 0:
        with torch.no_grad():
            ed = energy_distance(G_avg(z_fix), held)
        print(f"gen {it:4d}  critic_loss {loss_c.item():+.4f}  W_est {w.item():+.4f}  gp {gp.item():.4f}  gen_loss {loss_g.item():+.4f}  energy_dist {ed:+.4f}")
