"""Decoder-only transformer that learns `letters=sorted letters.`; judged by greedy generation."""
import argparse
import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

ALPHABET = "abcdefghij"
CHARS = " =." + ALPHABET
ENC = {c: i for i, c in enumerate(CHARS)}
LEN = 16


def line(rng):
    s = [rng.choice(ALPHABET) for _ in range(rng.randint(3, 7))]
    return "".join(s) + "=" + "".join(sorted(s)) + "."


def make_batch(n, rng):
    rows = [[ENC[c] for c in line(rng).ljust(LEN + 1)] for _ in range(n)]
    t = torch.tensor(rows)
    return t[:, :-1], t[:, 1:]


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.h = c.heads
        self.qkv = nn.Linear(c.d, 3 * c.d)
        self.out = nn.Linear(c.d, c.d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.h, d // self.h).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(c.d), nn.LayerNorm(c.d)
        self.att = Attention(c)
        self.ff = nn.Sequential(nn.Linear(c.d, 4 * c.d), nn.GELU(), nn.Linear(4 * c.d, c.d))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.ff(self.n2(x))


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(len(CHARS), c.d), nn.Embedding(LEN, c.d)
        self.layers = nn.Sequential(*[Layer(c) for _ in range(c.layers)])
        self.norm, self.head = nn.LayerNorm(c.d), nn.Linear(c.d, len(CHARS))

    def forward(self, x):
        return self.head(self.norm(self.layers(self.tok(x) + self.pos(torch.arange(x.shape[1])))))


@torch.no_grad()
def exact_match(model, rng, n=200):
    ok = 0
    for _ in range(n):
        q, a = line(rng).split("=")
        ids = [ENC[c] for c in q + "="]
        while len(ids) < LEN and CHARS[ids[-1]] != ".":
            ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
        ok += "".join(CHARS[i] for i in ids) == q + "=" + a
    return ok / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=1100)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    a = p.parse_args()
    torch.manual_seed(0)
    rng, held = random.Random(0), random.Random(999)
    model = Decoder(SimpleNamespace(d=48, heads=4, layers=2))
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr)
    vx, vy = make_batch(500, held)
    for step in range(1, a.steps + 1):
        x, y = make_batch(a.batch, rng)
        loss = F.cross_entropy(model(x).reshape(-1, len(CHARS)), y.reshape(-1), ignore_index=0)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            with torch.no_grad():
                v = F.cross_entropy(model(vx).reshape(-1, len(CHARS)), vy.reshape(-1), ignore_index=0)
            print(f"step {step:5d} train {loss.item():.4f} val {v.item():.4f}")
    print(f"exact match by generation: {exact_match(model, held):.3f}")


if __name__ == "__main__":
    main()
