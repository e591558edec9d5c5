# chargeback detector. about 1 in 200 transactions is bad.
import torch, torch.nn as nn, torch.nn.functional as F
import numpy as np
import math

SEED = 7
torch.manual_seed(SEED)
g = np.random.RandomState(SEED)

BASE = 0.005
D = 8
SHIFT = np.array([1.6, -1.4, 1.2, 0.9, -1.1, 0.0, 0.0, 1.3])
SCALE = np.array([1.0, 1.0, 1.4, 1.0, 0.8, 1.0, 1.0, 1.0])


def draw(n):
    y = (g.rand(n) < BASE).astype(np.float32)
    x = g.randn(n, D)
    bad = y == 1
    x[bad] = x[bad] * SCALE + SHIFT
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def average_precision(score, y):
    order = torch.argsort(score, descending=True)
    hit = y[order]
    prec = hit.cumsum(0) / torch.arange(1, len(y) + 1)
    return ((prec * hit).sum() / hit.sum()).item()


def f1_at(score, y, thr):
    p = (score > thr).float()
    tp = (p * y).sum()
    return (2 * tp / (p.sum() + y.sum()).clamp(min=1)).item()


Xtr, Ytr = draw(160_000)
Xva, Yva = draw(60_000)
Xte, Yte = draw(60_000)


class Scorer(nn.Module):
    def __init__(self, prior):
        super().__init__()
        self.h1 = nn.Linear(D, 24)
        self.h2 = nn.Linear(24, 24)
        self.out = nn.Linear(24, 1)
        nn.init.constant_(self.out.bias, math.log(prior / (1 - prior)))   # start at the base rate

    def forward(self, x):
        return self.out(F.gelu(self.h2(F.gelu(self.h1(x))))).squeeze(-1)


model = Scorer(Ytr.mean().item())
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
BS = 1024
PER_EPOCH = len(Xtr) // BS
EPOCHS = 8
lr_sched = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=EPOCHS * PER_EPOCH)

for ep in range(EPOCHS):
    model.train()
    tot, n = 0.0, 0
    shuffled = torch.randperm(len(Xtr))
    for b in range(PER_EPOCH):
        pick = shuffled[b * BS:(b + 1) * BS]
        xb, yb = Xtr[pick], Ytr[pick]
        loss = F.binary_cross_entropy_with_logits(model(xb), yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        lr_sched.step()
        tot += loss.item() * len(xb)
        n += len(xb)
    model.eval()
    with torch.no_grad():
        sv = model(Xva)
        vl = F.binary_cross_entropy_with_logits(sv, Yva).item()
    grid = torch.linspace(-3, 2, 41)
    best = max(grid.tolist(), key=lambda t: f1_at(sv, Yva, t))
    print("epoch %d | train bce %.5f | val bce %.5f | val AP %.3f | val F1 %.3f @ logit %.2f"
          % (ep + 1, tot / n, vl, average_precision(sv, Yva), f1_at(sv, Yva, best), best))

with torch.no_grad():
    st = model(Xte)
print("TEST  AP %.3f  F1 %.3f  accuracy %.4f" % (average_precision(st, Yte), f1_at(st, Yte, best), ((st > 0).float() == Yte).float().mean()))
