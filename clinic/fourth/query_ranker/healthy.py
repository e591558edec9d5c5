import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser(description="pairwise ranker")
ap.add_argument("--steps", type=int, default=1500)
ap.add_argument("--lr", type=float, default=1e-3)
ap.add_argument("--pairs", type=int, default=128)
ap.add_argument("--eval_every", type=int, default=100)
ap.add_argument("--seed", type=int, default=9)
opt = ap.parse_args()

np.random.seed(opt.seed)
torch.manual_seed(opt.seed)

D = 12
W = np.random.randn(D, D) / np.sqrt(D)
v = np.random.randn(D)


def build(n_queries, docs=20):
    q = np.random.randn(n_queries, 1, D)
    d = np.random.randn(n_queries, docs, D)
    rel = (q @ W * d).sum(-1) + 0.8 * np.tanh(d @ v) + 0.3 * np.random.randn(n_queries, docs)
    q = np.broadcast_to(q, d.shape)
    x = np.concatenate([q, d, q * d], -1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(rel, dtype=torch.float32)


x_tr, r_tr = build(800)
x_va, r_va = build(150)


class Scorer(nn.Module):
    def __init__(self, d_in, h=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, h), nn.ReLU(), nn.Dropout(0.1), nn.Linear(h, h), nn.ReLU(),
                                 nn.Linear(h, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def draw_pairs(x, rel, n):
    qi = torch.randint(0, x.shape[0], (n,))
    a = torch.randint(0, x.shape[1], (n,))
    b = (a + torch.randint(1, x.shape[1], (n,))) % x.shape[1]
    swap = rel[qi, a] < rel[qi, b]
    better, worse = torch.where(swap, b, a), torch.where(swap, a, b)
    return x[qi, better], x[qi, worse]


def pair_loss(s_better, s_worse):
    return F.softplus(s_worse - s_better).mean()


hi, lo = draw_pairs(x_va, r_va, 4000)
model = Scorer(3 * D)
optim = torch.optim.Adam(model.parameters(), lr=opt.lr)

step, run = 0, []
while step < opt.steps:
    model.train()
    xb, xw = draw_pairs(x_tr, r_tr, opt.pairs)
    loss = pair_loss(model(xb), model(xw))
    optim.zero_grad()
    loss.backward()
    optim.step()
    run.append(loss.item())
    step += 1
    if step % opt.eval_every == 0:
        model.eval()
        with torch.no_grad():
            sh, sl = model(hi), model(lo)
            top = r_va.argsort(1, descending=True)[:, :5]
            pick = model(x_va).topk(5, dim=1).indices
            hit = np.mean([len(set(p.tolist()) & set(t.tolist())) / 5 for p, t in zip(pick, top)])
        print(f"step {step} train_loss {np.mean(run):.4f} val_loss {pair_loss(sh, sl).item():.4f} "
              f"val_pair_acc {(sh > sl).float().mean().item():.3f} val_p@5 {hit:.3f}")
        run = []
