#!/usr/bin/env python
"""Matrix factorisation with the BPR objective on implicit feedback."""
import time
import numpy as np
import torch
import torch.nn.functional as F

SEED = 5
N_USERS, N_ITEMS, DIM = 1000, 3000, 24
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)


def interactions(per_user=26):
    zu = rng.normal(size=(N_USERS, 6))
    zi = rng.normal(size=(N_ITEMS, 6))
    pop = rng.normal(0, 0.8, N_ITEMS)
    s = 1.1 * zu @ zi.T + pop + rng.gumbel(size=(N_USERS, N_ITEMS))
    return np.argsort(-s, 1)[:, :per_user]


liked = interactions()
for row in liked:
    rng.shuffle(row)
train, held = liked[:, :21], liked[:, 21:]
seen = torch.zeros(N_USERS, N_ITEMS, dtype=torch.bool)
seen[torch.arange(N_USERS)[:, None], torch.tensor(train)] = True
pairs = torch.tensor([(u, i) for u in range(N_USERS) for i in train[u]])

U = torch.nn.Embedding(N_USERS, DIM, sparse=True)
V = torch.nn.Embedding(N_ITEMS, DIM, sparse=True)
B = torch.nn.Embedding(N_ITEMS, 1, sparse=True)
for e in (U, V):
    torch.nn.init.normal_(e.weight, std=0.1)
torch.nn.init.zeros_(B.weight)
opt = torch.optim.SparseAdam([U.weight, V.weight, B.weight], lr=4e-3)


def score(u, i):
    return (U(u) * V(i)).sum(-1) + B(i).squeeze(-1)


def recall_at(k=20):
    with torch.no_grad():
        s = U.weight @ V.weight.T + B.weight.T
        s[seen] = -1e9
        top = s.topk(k, 1).indices.numpy()
    return float(np.mean([len(set(top[u]) & set(held[u])) / len(held[u]) for u in range(N_USERS)]))


t0 = time.time()
for epoch in range(1, 46):
    perm = torch.randperm(len(pairs))
    total = 0.0
    for c in range(0, len(perm), 128):
        u, pos = pairs[perm[c:c + 128]].T
        neg = torch.randint(0, N_USERS, (len(u),))
        reg = 0.02 * (U(u).pow(2) + V(pos).pow(2) + V(neg).pow(2)).sum(-1).mean()
        bpr = -F.logsigmoid(score(u, pos) - score(u, neg)).mean()
        opt.zero_grad()
        (bpr + reg).backward()
        opt.step()
        total += bpr.item() * len(u)
    if epoch % 3 == 0:
        print(f"[{time.time() - t0:6.1f}s] ep {epoch:3d} bpr={total / len(pairs):.4f} recall@20={recall_at():.4f}", flush=True)
