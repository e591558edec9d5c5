"""1-D conv net on synthetic sonar pings, SGD with warm restarts (SGDR)."""
from __future__ import annotations
import math
from dataclasses import dataclass
import torch
import torch.nn as nn


@dataclass
class Cfg:
    classes: int = 5
    length: int = 48
    batch: int = 64
    t0: int = 200
    mult: int = 2
    cycles: int = 3
    lr_max: float = 0.3
    lr_min: float = 1e-4
    flip: float = 0.12        # annotators pick a uniformly random class this often
    noise: float = 1.0
    seed: int = 99


class Pings:
    """Endless source: every batch is new."""

    def __init__(self, cfg: Cfg, seed: int):
        self.c = cfg
        self.g = torch.Generator().manual_seed(seed)
        self.t = torch.arange(cfg.length) / cfg.length

    def clean(self, k):
        t = self.t
        bank = [
            torch.sin(2 * math.pi * 3 * t),
            torch.sin(2 * math.pi * 6 * t),
            torch.sin(2 * math.pi * (2 + 6 * t) * t),
            torch.sign(torch.sin(2 * math.pi * 4 * t)),
            torch.exp(-((t - 0.5) / 0.1) ** 2) * 2,
        ]
        return torch.stack(bank)[k]

    def batch(self, n):
        k = torch.randint(self.c.classes, (n,), generator=self.g)
        gain = 0.8 + 0.4 * torch.rand(n, 1, generator=self.g)
        x = gain * self.clean(k) + self.c.noise * torch.randn(n, self.c.length, generator=self.g)
        flip = torch.rand(n, generator=self.g) < self.c.flip
        y = torch.where(flip, torch.randint(self.c.classes, (n,), generator=self.g), k)
        return x[:, None], y


class Net(nn.Module):
    def __init__(self, c: Cfg):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv1d(1, 16, 7, padding=3, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 5, padding=2, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.AvgPool1d(4),
            nn.Flatten())
        self.head = nn.Linear(32 * (c.length // 8), c.classes)

    def forward(self, x):
        return self.head(self.trunk(x))


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    z = net(x)
    net.train()
    return nn.functional.cross_entropy(z, y).item(), (z.argmax(1) == y).float().mean().item()


def main(cfg=Cfg()):
    torch.manual_seed(cfg.seed)
    src, held = Pings(cfg, 1), Pings(cfg, 2)
    xv, yv = held.batch(2000)
    net = Net(cfg)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr_max, momentum=0.9, nesterov=True, weight_decay=5e-4)
    sch = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, cfg.t0, cfg.mult, eta_min=cfg.lr_min)
    total = sum(cfg.t0 * cfg.mult ** i for i in range(cfg.cycles))
    ema = None
    for it in range(total):
        x, y = src.batch(cfg.batch)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        lr = opt.param_groups[0]["lr"]
        sch.step()
        ema = loss.item() if ema is None else 0.95 * ema + 0.05 * loss.item()
        if (it + 1) % 50 == 0:
            vl, va = evaluate(net, xv, yv)
            print(f"[it {it + 1:4d}/{total}] lr={lr:.5f} loss={ema:.3f} val_loss={vl:.3f} val_acc={va:.3f}")
    return net, xv, yv


if __name__ == "__main__":
    out = main()
