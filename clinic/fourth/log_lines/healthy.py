"""Classify tokenised log lines with a small Transformer encoder; settings come from a YAML file."""
import argparse
import math
from pathlib import Path

import torch
import torch.nn as nn
import yaml
from torch.optim.lr_scheduler import OneCycleLR


def read_config():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=str(Path(__file__).with_suffix(".yaml")))
    with open(parser.parse_args().config) as fh:
        return yaml.safe_load(fh)


def make_split(n, d, motifs, g):
    """Every class has two motifs of three tokens; a line contains one of them at a random place, possibly damaged."""
    y = torch.randint(0, d["classes"], (n,), generator=g)
    x = torch.randint(0, d["vocab"], (n, d["length"]), generator=g)
    for i in range(n):
        m = motifs[y[i], torch.randint(0, 2, (1,), generator=g).item()]
        at = torch.randint(0, d["length"] - 3, (1,), generator=g).item()
        keep = torch.rand(3, generator=g) > 0.05
        x[i, at:at + 3] = torch.where(keep, m, x[i, at:at + 3])
    return x, y


class LineClassifier(nn.Module):
    def __init__(self, m, d):
        super().__init__()
        self.tok = nn.Embedding(d["vocab"], m["dim"])
        pos = torch.arange(d["length"]).float()[:, None]
        freq = torch.exp(torch.arange(0, m["dim"], 2).float() * (-math.log(1000.0) / m["dim"]))
        table = torch.zeros(d["length"], m["dim"])
        table[:, 0::2], table[:, 1::2] = torch.sin(pos * freq), torch.cos(pos * freq)
        self.register_buffer("pos", table)
        layer = nn.TransformerEncoderLayer(m["dim"], m["heads"], 2 * m["dim"], m["dropout"],
                                           batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, m["layers"], enable_nested_tensor=False)
        self.norm = nn.LayerNorm(m["dim"])
        self.head = nn.Linear(m["dim"], d["classes"])

    def forward(self, x):
        h = self.encoder(self.tok(x) + self.pos)
        return self.head(self.norm(h).mean(1))


@torch.no_grad()
def score(model, x, y, loss_fn):
    model.eval()
    logits = torch.cat([model(c) for c in x.split(256)])
    return loss_fn(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    cfg = read_config()
    d, o = cfg["data"], cfg["optim"]
    torch.manual_seed(cfg["seed"])
    g = torch.Generator().manual_seed(cfg["seed"])
    motifs = torch.randint(0, d["vocab"], (d["classes"], 2, 3), generator=g)
    xt, yt = make_split(d["train"], d, motifs, g)
    xv, yv = make_split(d["valid"], d, motifs, g)

    model = LineClassifier(cfg["model"], d)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=o["max_lr"], weight_decay=o["weight_decay"])
    steps_per_epoch = math.ceil(d["train"] / o["batch"])
    total = steps_per_epoch * o["epochs"]
    scheduler = OneCycleLR(optimizer, max_lr=o["max_lr"], total_steps=total, pct_start=o["pct_start"])

    for epoch in range(o["epochs"]):
        model.train()
        losses = []
        for idx in torch.randperm(d["train"], generator=g).split(o["batch"]):
            loss = loss_fn(model(xt[idx]), yt[idx])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if scheduler.last_epoch < total - 1:
                scheduler.step()
            losses.append(loss.item())
        vl, va = score(model, xv, yv, loss_fn)
        print(f"epoch {epoch + 1}/{o['epochs']}: train {sum(losses) / len(losses):.4f} val {vl:.4f} "
              f"acc {va:.4f} lr {scheduler.get_last_lr()[0]:.2e}")


if __name__ == "__main__":
    main()
