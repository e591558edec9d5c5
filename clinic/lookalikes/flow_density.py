"""Affine coupling flow; the loss is a negative log-likelihood and may be of any sign."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s) * 2
        b = b * s.exp() + t
        return (torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)), s.squeeze(1)


class Flow(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(i % 2 == 1) for i in range(n)])

    def log_prob(self, x):
        logdet = 0
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return -0.5 * x.pow(2).sum(1) - math.log(2 * math.pi) + logdet


def banana(n):
    a = torch.randn(n, 1) * 0.5
    return torch.cat([a, a ** 2 + 0.03 * torch.randn(n, 1)], 1)


flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
test = banana(1000)
for it in range(1, 501):
    loss = -flow.log_prob(banana(128)).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 10.0)
    optimizer.step()
    if it % 50 == 0:
        with torch.no_grad():
            print(f"iter {it} nll {loss.item():.4f} val_nll {-flow.log_prob(test).mean().item():.4f}")
