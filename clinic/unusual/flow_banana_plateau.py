import torch
from torch import nn, optim
from math import log, pi, e

"""RealNVP density estimation for a small-scale 'banana'. NLL goes below zero because the density is concentrated.
Entropy (closed form): the banana map has unit Jacobian, so H = log(2*pi*e) + log(s1*s2)."""
torch.manual_seed(17)
S1, S2 = 0.15, 0.03
ENTROPY = log(2 * pi * e) + log(S1 * S2)


def banana(n):
    u = torch.randn(n, 2) * torch.tensor([S1, S2])
    return torch.stack([u[:, 0] + .5, u[:, 1] + 4.0 * u[:, 0] ** 2 - 1.], 1)


class Coupling(nn.Module):
    def __init__(self, flip, hidden=32):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        nn.init.normal_(self.net[-1].weight, std=1e-2); nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip: a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = 2 * torch.tanh(s / 2)
        b = b * s.exp() + t
        y = torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)
        return y, s.sum(1)


class Flow(nn.Module):
    def __init__(self, mean, std, depth=6):
        super().__init__()
        self.register_buffer("mean", mean); self.register_buffer("std", std)
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(depth))

    def log_prob(self, x):
        z = (x - self.mean) / self.std
        ld = -self.std.log().sum()
        for layer in self.layers:
            z, l = layer(z); ld = ld + l
        return -.5 * (z ** 2).sum(1) - log(2 * pi) + ld


class Loop:
    def __init__(self):
        self.train, self.val = banana(10000), banana(2500)
        self.flow = Flow(self.train.mean(0), self.train.std(0))
        self.opt = optim.Adam(self.flow.parameters(), lr=3e-3)
        self.plateau = optim.lr_scheduler.ReduceLROnPlateau(self.opt, factor=.4, patience=2, threshold=1e-3, threshold_mode="abs", min_lr=1e-4)

    def epoch(self):
        self.flow.train(); losses = []
        for xb in self.train[torch.randperm(len(self.train))].split(200):
            nll = -self.flow.log_prob(xb).mean()
            self.opt.zero_grad(); nll.backward()
            nn.utils.clip_grad_norm_(self.flow.parameters(), 5.)
            self.opt.step(); losses.append(nll.item())
        self.flow.eval()
        with torch.no_grad(): v = -self.flow.log_prob(self.val).mean().item()
        self.plateau.step(v)
        return sum(losses) / len(losses), v

    def fit(self, epochs=20):
        for k in range(epochs):
            tr, va = self.epoch()
            print({"epoch": k, "nll": round(tr, 4), "val_nll": round(va, 4), "lr": round(self.opt.param_groups[0]["lr"], 6)})
        u = self.val - torch.tensor([.5, -1.]); r = torch.stack([u[:, 0] / S1, (u[:, 1] - 4 * u[:, 0] ** 2) / S2], 1)
        true = (.5 * (r ** 2).sum(1) + log(2 * pi) + log(S1 * S2)).mean().item()
        print("entropy (closed form) %.4f, true density on val set %.4f" % (ENTROPY, true))


Loop().fit()
