"""Classify short token streams by the process that generated them.

Every class has its own token transition matrix; a small Transformer encoder reads
the stream and predicts the class.
"""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=7)
    p.add_argument("--vocab", type=int, default=24)
    p.add_argument("--classes", type=int, default=6)
    p.add_argument("--length", type=int, default=20)
    p.add_argument("--train-size", type=int, default=5000)
    p.add_argument("--val-size", type=int, default=1200)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=3e-2)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--layers", type=int, default=2)
    return p.parse_args()


def make_streams(rng, mats, n, length, noise=0.1):
    classes, vocab, _ = mats.shape
    y = rng.integers(0, classes, n)
    cum = mats.cumsum(-1)
    x = np.zeros((n, length), dtype=np.int64)
    x[:, 0] = rng.integers(0, vocab, n)
    for t in range(1, length):
        u = rng.random(n)[:, None]
        nxt = (cum[y, x[:, t - 1]] < u).sum(-1).clip(0, vocab - 1)
        rand = rng.integers(0, vocab, n)
        x[:, t] = np.where(rng.random(n) < noise, rand, nxt)
    return torch.from_numpy(x), torch.from_numpy(y)


class StreamClassifier(nn.Module):
    def __init__(self, vocab, classes, length, dim, heads, layers):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(length, dim) * 0.02)
        block = nn.TransformerEncoderLayer(dim, heads, dim * 2, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        h = self.encoder(self.tok(x) + self.pos)
        return self.out(h.mean(1))


def train_epoch(model, opt, x, y, batch_size):
    model.train()
    order = torch.randperm(len(x))
    total, seen = 0.0, 0
    for i in range(0, len(x), batch_size):
        idx = order[i:i + batch_size]
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
        seen += len(idx)
    return total / seen


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(-1) == y).float().mean().item()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    mats = rng.dirichlet(np.full(args.vocab, 0.12), size=(args.classes, args.vocab))
    xtr, ytr = make_streams(rng, mats, args.train_size, args.length)
    xva, yva = make_streams(rng, mats, args.val_size, args.length)

    model = StreamClassifier(args.vocab, args.classes, args.length, args.dim, args.heads, args.layers)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    print(f"params={sum(p.numel() for p in model.parameters())} chance loss={math.log(args.classes):.3f}")
    for epoch in range(1, args.epochs + 1):
        tr = train_epoch(model, opt, xtr, ytr, args.batch_size)
        va, acc = evaluate(model, xva, yva)
        print(f"epoch {epoch:02d}  train_loss {tr:.4f}  val_loss {va:.4f}  val_acc {acc:.3f}")


if __name__ == "__main__":
    main()
