"""Churn model: numeric columns plus embedded categorical columns."""
import argparse
import logging

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger("churn")

CITIES = [f"city_{i:02d}" for i in range(28)]
DEVICES = ["ios", "android", "web", "tv", "console", "kiosk"]
PLANS = ["free", "basic", "plus", "family", "student"]


def simulate(n, rng):
    w_city = np.random.default_rng(3).normal(0, 1.1, len(CITIES))
    w_pair = np.random.default_rng(4).normal(0, 1.2, (len(DEVICES), len(PLANS)))
    c = rng.choice(len(CITIES), n, p=rng.dirichlet(np.ones(len(CITIES)) * 8))
    d = rng.integers(0, len(DEVICES), n)
    p = rng.integers(0, len(PLANS), n)
    num = rng.normal(size=(n, 4))
    z = w_city[c] + w_pair[d, p] + 0.7 * num[:, 0] - 0.5 * num[:, 1] * num[:, 2]
    y = rng.random(n) < 1 / (1 + np.exp(-1.6 * z))
    table = {"city": np.array(CITIES)[c], "device": np.array(DEVICES)[d], "plan": np.array(PLANS)[p]}
    return table, num.astype(np.float32), y.astype(np.float32)


def category_index(values):
    return {v: k for k, v in enumerate(dict.fromkeys(values))}


def encode(table, index):
    cols = [[index[k].get(v, 0) for v in table[k]] for k in ("city", "device", "plan")]
    return torch.tensor(cols).T.contiguous()


class ChurnNet(nn.Module):
    def __init__(self, sizes, dim=6, hidden=64):
        super().__init__()
        self.emb = nn.ModuleList(nn.Embedding(s, dim) for s in sizes)
        self.mlp = nn.Sequential(nn.Linear(dim * len(sizes) + 4, hidden), nn.ReLU(), nn.Dropout(0.1),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, cat, num):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.emb)]
        return self.mlp(torch.cat(e + [num], 1)).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--batch-size", type=int, default=64)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    torch.manual_seed(0)
    rng = np.random.default_rng(0)

    train_tab, train_num, train_y = simulate(36000, rng)
    valid_tab, valid_num, valid_y = simulate(4000, rng)

    index = {k: category_index(v) for k, v in train_tab.items()}
    train_cat = encode(train_tab, index)
    valid_cat = encode(valid_tab, index)

    train = DataLoader(TensorDataset(train_cat, torch.tensor(train_num), torch.tensor(train_y)),
                       batch_size=args.batch_size, shuffle=True)
    model = ChurnNet([28, 6, 5])
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    crit = nn.BCEWithLogitsLoss()
    vy = torch.tensor(valid_y)
    for ep in range(1, args.epochs + 1):
        model.train()
        run = 0.0
        for cat, num, y in train:
            opt.zero_grad()
            loss = crit(model(cat, num), y)
            loss.backward()
            opt.step()
            run += loss.item()
        model.eval()
        with torch.no_grad():
            s = model(valid_cat, torch.tensor(valid_num))
        acc = ((s > 0) == (vy > 0.5)).float().mean()
        log.info("epoch=%d train_loss=%.4f val_loss=%.4f val_acc=%.4f", ep, run / len(train), crit(s, vy), acc)
    log.info("final val_acc=%.4f", acc)


if __name__ == "__main__":
    main()
