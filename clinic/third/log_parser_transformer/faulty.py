"""Tag each token of a log line with its role (7 roles), small transformer encoder."""
import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import yaml

N_ROLES = 7


def synth(n, vocab, length, rng):
    """The role depends on the token's group and on the group of the token that opens the line."""
    group = np.arange(vocab) % 6
    table = np.random.default_rng(99).integers(0, N_ROLES, (6, 6))
    ids = rng.integers(0, vocab, (n, length))
    g = group[ids]
    roles = table[g, g[:, :1]]
    noise = rng.random(roles.shape) < 0.05
    roles = np.where(noise, rng.integers(0, N_ROLES, roles.shape), roles)
    return torch.from_numpy(ids), torch.from_numpy(roles)


class Block(nn.Module):
    def __init__(self, d, heads, ff, drop):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, heads, dropout=drop, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, ff), nn.GELU(), nn.Dropout(drop), nn.Linear(ff, d))
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        h = self.n1(x)
        x = x + self.drop(self.attn(h, h, h, need_weights=False)[0])
        return x + self.drop(self.ff(self.n2(x)))


class Tagger(nn.Module):
    def __init__(self, vocab, length, m):
        super().__init__()
        self.tok = nn.Embedding(vocab, m["d_model"])
        self.pos = nn.Parameter(torch.randn(length, m["d_model"]) * 0.5)
        self.emb_drop = nn.Dropout(m["dropout"])
        self.blocks = nn.ModuleList(Block(m["d_model"], m["heads"], m["ff"], m["dropout"]) for _ in range(m["layers"]))
        self.norm = nn.LayerNorm(m["d_model"])
        self.cls = nn.Linear(m["d_model"], N_ROLES)

    def forward(self, ids):
        x = self.emb_drop(self.tok(ids) + self.pos)
        for b in self.blocks:
            x = b(x)
        return self.cls(self.norm(x))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=str(Path(__file__).with_name("faulty.yaml")))
    cfg = yaml.safe_load(Path(ap.parse_args().config).read_text())
    d, o = cfg["data"], cfg["optim"]
    torch.manual_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    xt, yt = synth(d["n_train"], d["vocab"], d["length"], rng)
    xv, yv = synth(d["n_val"], d["vocab"], d["length"], rng)

    model = Tagger(d["vocab"], d["length"], cfg["model"])
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.AdamW(model.parameters(), lr=o["lr"], weight_decay=o["weight_decay"])
    total = o["epochs"] * (d["n_train"] // o["batch_size"])
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min(1.0, (s + 1) / o["warmup"]) * max(0.05, 1 - s / total))

    for epoch in range(o["epochs"]):
        model.train()
        seen = []
        for idx in torch.randperm(len(xt)).split(o["batch_size"]):
            loss = loss_fn(model(xt[idx]).flatten(0, 1), yt[idx].flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            seen.append(loss.item())
        model.eval()
        with torch.no_grad():
            out = model(xv)
            vl = loss_fn(out.flatten(0, 1), yv.flatten()).item()
            acc = (out.argmax(-1) == yv).float().mean().item()
        print(f"epoch={epoch} train={sum(seen) / len(seen):.4f} val={vl:.4f} token_acc={acc:.4f}")


if __name__ == "__main__":
    main()
