import numpy as np
import torch
from torch import nn


def simulate(n=3000, seed=12):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 6))
    risk = 1.0 * x[:, 0] - .8 * x[:, 1] + .9 * np.maximum(x[:, 2], 0) + .6 * x[:, 3] * (x[:, 4] > 0)
    t = r.exponential(1 / (.1 * np.exp(risk)))
    c = r.uniform(2, 25, n)
    return x.astype("f4"), np.minimum(t, c).astype("f4"), (t <= c).astype("f4"), risk


def cox_nll(eta, time, event):
    """negative log partial likelihood (Breslow), risk sets inside the batch, per event"""
    order = torch.argsort(time, descending=True)
    eta, event = eta[order], event[order]
    lse = torch.logcumsumexp(eta, 0)
    return -((eta - lse) * event).sum() / event.sum().clamp_min(1)


def c_index(risk, t, e):
    i, j = np.where((t[:, None] < t[None]) & (e[:, None] > 0))
    return float((np.sign(risk[i] - risk[j]) * .5 + .5).mean())


def fit_fold(k, x, t, e, tr, va, epochs=20, bs=200):
    torch.manual_seed(100 + k)
    net = nn.Sequential(nn.Linear(6, 24), nn.ELU(), nn.Linear(24, 12), nn.ELU(), nn.Linear(12, 1, bias=False))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-3)
    mu, sd = x[tr].mean(0), x[tr].std(0)
    X = torch.tensor((x - mu) / sd); T = torch.tensor(t); E = torch.tensor(e)
    for ep in range(epochs):
        p = np.random.default_rng([k, ep]).permutation(tr); ls = []
        for s in range(0, len(p), bs):
            b = p[s:s + bs]
            loss = cox_nll(net(X[b]).squeeze(1), T[b], E[b])
            opt.zero_grad(); loss.backward(); opt.step(); ls.append(loss.item())
        if ep % 4 == 3:
            with torch.no_grad(): eta = net(X).squeeze(1)
            # same batch size on both sides, because the partial likelihood depends on the risk-set size
            v = np.mean([cox_nll(eta[va[s:s + bs]], T[va[s:s + bs]], E[va[s:s + bs]]).item() for s in range(0, len(va), bs)])
            print(f"  fold {k} epoch {ep + 1:2d} train {np.mean(ls):.4f} val {v:.4f} c-index val {c_index(eta.numpy()[va], t[va], e[va]):.4f}")
    return c_index(eta.numpy()[va], t[va], e[va]), c_index(eta.numpy()[tr][:600], t[tr][:600], e[tr][:600])


x, t, e, risk = simulate()
print("events: %.0f%%" % (100 * e.mean()))
folds = np.array_split(np.random.default_rng(0).permutation(len(x)), 5)
scores = []
for k in range(5):
    va = folds[k]; tr = np.concatenate([f for j, f in enumerate(folds) if j != k])
    scores.append(fit_fold(k, x, t, e, tr, va) + (c_index(risk[va], t[va], e[va]),))
s = np.array(scores)
print("c-index val %.4f +- %.4f | train %.4f | oracle risk %.4f | chance 0.5" % (s[:, 0].mean(), s[:, 0].std(), s[:, 1].mean(), s[:, 2].mean()))
