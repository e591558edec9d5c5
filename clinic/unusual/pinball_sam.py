"""Demand forecasting intervals: 3 quantiles, pinball loss, SAM (sharpness-aware) around AdamW."""
import math
import torch
import torch.nn as nn

torch.manual_seed(77)
QS = torch.tensor([0.1, 0.5, 0.9])
Z = torch.tensor([-1.2815516, 0.0, 1.2815516])


def f(x): return torch.sin(2 * x[:, 0]) + 0.5 * x[:, 1]
def s(x): return 0.2 + 0.3 * torch.sigmoid(2 * x[:, 1])
def draw(n):
    x = torch.rand(n, 2) * 4 - 2
    return x, f(x) + s(x) * torch.randn(n)


def pinball(pred, y):
    d = y[:, None] - pred
    return torch.maximum(QS * d, (QS - 1) * d).mean()


class QuantileNet(nn.Module):
    """median plus positive offsets, so quantiles never cross"""
    def __init__(self, h=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, h), nn.GELU(), nn.Linear(h, h), nn.GELU(), nn.Linear(h, 3))

    def forward(self, x):
        m, lo, hi = self.body(x).unbind(1)
        sp = nn.functional.softplus
        return torch.stack([m - sp(lo), m, m + sp(hi)], 1)


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.p = list(params); self.base, self.rho = base, rho

    @torch.no_grad()
    def ascend(self):
        gn = torch.stack([p.grad.norm() for p in self.p]).norm() + 1e-12
        self.eps = [p.grad * (self.rho / gn) for p in self.p]
        for p, e in zip(self.p, self.eps): p.add_(e)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, e in zip(self.p, self.eps): p.sub_(e)
        self.base.step(); self.base.zero_grad()


xtr, ytr = draw(8000); xva, yva = draw(4000)
net = QuantileNet()
base = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-4)
sam = SAM(net.parameters(), base, rho=0.02)
EPOCHS, BS = 12, 100
sched = torch.optim.lr_scheduler.CosineAnnealingLR(base, EPOCHS)
for ep in range(1, EPOCHS + 1):
    tot = 0.0
    for idx in torch.randperm(len(xtr)).split(BS):
        xb, yb = xtr[idx], ytr[idx]
        loss = pinball(net(xb), yb)
        loss.backward(); sam.ascend()
        pinball(net(xb), yb).backward(); sam.descend()
        tot += loss.item() * len(idx)
    sched.step()
    with torch.no_grad():
        q = net(xva); v = pinball(q, yva).item(); cov = ((yva > q[:, 0]) & (yva < q[:, 2])).float().mean().item()
    print(f"ep={ep:>2} pinball_train={tot / len(xtr):.5f} pinball_val={v:.5f} cover80={cov:.3f}")
oracle = f(xva)[:, None] + s(xva)[:, None] * Z
oracle_tr = f(xtr)[:, None] + s(xtr)[:, None] * Z
print(f"oracle pinball train={pinball(oracle_tr, ytr):.5f} val={pinball(oracle, yva):.5f}  rms error of the quantile curves={(q - oracle).pow(2).mean().sqrt():.4f}")
