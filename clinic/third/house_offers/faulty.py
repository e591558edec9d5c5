#!/usr/bin/env python
"""Price model for house offers (synthetic table)."""
import argparse
import json

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def make_table(n, seed):
    r = np.random.default_rng(seed)
    df = pd.DataFrame({
        "area": r.gamma(9, 12, n),
        "rooms": r.integers(1, 8, n),
        "age": r.uniform(0, 90, n),
        "dist": r.exponential(6, n),
        "floor": r.integers(0, 12, n),
        "garden": r.integers(0, 2, n),
        "district": r.integers(0, 6, n),
    })
    base = np.array([1.0, 1.15, 0.85, 1.3, 0.95, 1.1])[df.district]
    price = base * (40 + 2.4 * df.area + 9 * df.rooms - 0.8 * df.age + 0.006 * (df.age - 40) ** 2)
    price = price * np.exp(-0.03 * df.dist) + 18 * df.garden + 10 * r.normal(size=n)
    df["price"] = price
    return df


class OfferData(Dataset):
    numeric = ["area", "rooms", "age", "dist", "floor", "garden"]

    def __init__(self, df, stats):
        num = (df[self.numeric] - stats["mean"]) / stats["std"]
        self.num = torch.tensor(num.values, dtype=torch.float32)
        self.cat = torch.tensor(df["district"].values)
        target = (df[["price"]] - stats["y_mean"]) / stats["y_std"]
        self.target = torch.tensor(target.values, dtype=torch.float32)

    def __len__(self):
        return len(self.num)

    def __getitem__(self, i):
        return self.num[i], self.cat[i], self.target[i]


class PriceNet(nn.Module):
    def __init__(self, n_num, n_cat, hidden):
        super().__init__()
        self.emb = nn.Embedding(n_cat, 4)
        self.mlp = nn.Sequential(
            nn.Linear(n_num + 4, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 1))

    def forward(self, num, cat):
        return self.mlp(torch.cat([num, self.emb(cat)], 1)).squeeze(1)


def compute_loss(pred, target):
    return ((pred - target) ** 2).mean()


def train(model, loader, opt):
    model.train()
    losses = []
    for num, cat, target in loader:
        loss = compute_loss(model(num, cat), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return float(np.mean(losses))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    losses, ps, ts = [], [], []
    for num, cat, target in loader:
        pred = model(num, cat)
        losses.append(compute_loss(pred, target).item())
        ps.append(pred.flatten())
        ts.append(target.flatten())
    p, t = torch.cat(ps), torch.cat(ts)
    r2 = 1 - ((p - t) ** 2).sum() / ((t - t.mean()) ** 2).sum()
    return float(np.mean(losses)), r2.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--batch-size", type=int, default=100)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--hidden", type=int, default=48)
    ap.add_argument("--seed", type=int, default=5)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    df = make_table(6000, args.seed)
    tr, va = df.iloc[:5000], df.iloc[5000:]
    stats = {"mean": tr[OfferData.numeric].mean(), "std": tr[OfferData.numeric].std(),
             "y_mean": tr["price"].mean(), "y_std": tr["price"].std()}
    train_dl = DataLoader(OfferData(tr, stats), batch_size=args.batch_size, shuffle=True)
    val_dl = DataLoader(OfferData(va, stats), batch_size=200)

    model = PriceNet(len(OfferData.numeric), 6, args.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        tl = train(model, train_dl, opt)
        vl, r2 = evaluate(model, val_dl)
        print(json.dumps({"epoch": epoch, "train_loss": round(tl, 4), "val_loss": round(vl, 4), "val_r2": round(r2, 4)}))


if __name__ == "__main__":
    main()
