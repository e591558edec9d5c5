"""Normalising flow (affine couplings) on a thin spiral; the objective is the average negative log-likelihood in nats."""
import math
import torch
import torch.nn as nn

torch.manual_seed(40)


def spiral(n):
    t = torch.rand(n).sqrt() * 3 * math.pi
    r = .05 + t / (9 * math.pi)
    pts = torch.stack([r * t.cos(), r * t.sin()], 1)
    return pts + .006 * torch.randn(n, 2)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1) if not self.flip else x.chunk(2, 1)[::-1]
        s, m = self.net(a).chunk(2, 1)
        s = 2 * torch.tanh(s / 2)
        b = b * s.exp() + m
        return (torch.cat([a, b], 1) if not self.flip else torch.cat([b, a], 1)), s.sum(1)


class Flow(nn.Module):
    def __init__(self, depth=8):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(depth))
        self.log_scale = nn.Parameter(torch.full((2,), 1.5))

    def log_prob(self, x):
        z = x * self.log_scale.exp()
        ld = self.log_scale.sum().expand(len(x))
        for l in self.layers:
            z, d = l(z)
            ld = ld + d
        return -.5 * (z ** 2).sum(1) - math.log(2 * math.pi) + ld


flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 2200)
held = spiral(4000)
for step in range(1, 2201):
    loss = -flow.log_prob(spiral(256)).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    opt.step()
    sch.step()
    if step % 100 == 0:
        with torch.no_grad():
            v = -flow.log_prob(held).mean().item()
        print(f"step {step} nll {loss.item():+.4f} heldout {v:+.4f}")
print("bits per dimension on held-out points: %.4f" % (v / 2 / math.log(2)))
