"""Inverse heat problem: find the diffusivity of a rod from 400 noisy thermocouple readings.

Three losses: data misfit (cannot go below sensor noise), PDE residual, and the clamped ends (practically zero all along).
"""
import math
import torch
from torch import nn

torch.manual_seed(31)
KAPPA, SENSOR = 0.08, 0.04


def exact(x, t):
    pi = math.pi
    return torch.sin(pi * x) * torch.exp(-KAPPA * pi ** 2 * t) + 0.5 * torch.sin(2 * pi * x) * torch.exp(-4 * KAPPA * pi ** 2 * t)


def d(u, v):
    return torch.autograd.grad(u, v, torch.ones_like(u), create_graph=True)[0]


class Sine(nn.Module):
    def forward(self, v):
        return torch.sin(v)


class Rod(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 40), Sine(), nn.Linear(40, 40), Sine(), nn.Linear(40, 1))
        self.log_kappa = nn.Parameter(torch.tensor(math.log(0.2)))

    def forward(self, x, t):
        return self.f(torch.cat([2 * x - 1, 2 * t - 1], 1))


xs, ts = torch.rand(400, 1), torch.rand(400, 1)
us = exact(xs, ts) + SENSOR * torch.randn(400, 1)
gx, gt = torch.meshgrid(torch.linspace(0, 1, 41), torch.linspace(0, 1, 41), indexing="ij")
gx, gt = gx.reshape(-1, 1), gt.reshape(-1, 1)
gu = exact(gx, gt)

rod = Rod()
opt = torch.optim.Adam([{"params": rod.f.parameters(), "lr": 1e-2}, {"params": [rod.log_kappa], "lr": 1e-2}])
STEPS = 2400
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS, eta_min=1e-4)

for step in range(1, STEPS + 1):
    x = torch.rand(128, 1, requires_grad=True)
    t = torch.rand(128, 1, requires_grad=True)
    u = rod(x, t)
    u_x = d(u, x)
    residual = d(u, t) - rod.log_kappa.exp() * d(u_x, x)
    l_pde = residual.pow(2).mean()
    l_data = (rod(xs, ts) - us).pow(2).mean()
    tb = torch.rand(32, 1)
    l_ends = rod(torch.zeros_like(tb), tb).pow(2).mean() + rod(torch.ones_like(tb), tb).pow(2).mean()
    loss = l_data + 0.1 * l_pde + l_ends
    opt.zero_grad()
    loss.backward()
    opt.step()
    sch.step()
    if step % 200 == 0:
        with torch.no_grad():
            rel = ((rod(gx, gt) - gu).norm() / gu.norm()).item()
        print(f"{step:5d}  total {loss.item():.3e}  data {l_data.item():.3e}  pde {l_pde.item():.3e}  ends {l_ends.item():.3e}"
              f"  kappa {rod.log_kappa.exp().item():.4f}  grid rel-L2 {rel:.4f}")
