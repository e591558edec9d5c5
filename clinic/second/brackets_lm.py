import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass


@dataclass
class Config:
    vocab: int = 6
    block: int = 20
    dim: int = 48
    layers: int = 2
    batch: int = 32
    lr: float = 8e-2
    steps: int = 300


cfg = Config()
torch.manual_seed(0)
random.seed(0)


def bracket_string():
    out, stack = [], []
    while len(out) < cfg.block + 1:
        if stack and random.random() < 0.5:
            out.append(3 + stack.pop())
        else:
            k = random.randrange(3)
            stack.append(k)
            out.append(k)
    return out


def get_batch(n):
    s = torch.tensor([bracket_string() for _ in range(n)])
    return s[:, :-1], s[:, 1:]


class LM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok = nn.Embedding(c.vocab, c.dim)
        self.pos = nn.Embedding(c.block, c.dim)
        layer = nn.TransformerEncoderLayer(c.dim, 4, 4 * c.dim, 0.0, "gelu", batch_first=True, norm_first=True)
        self.tr = nn.TransformerEncoder(layer, c.layers, enable_nested_tensor=False)
        self.head = nn.Linear(c.dim, c.vocab)

    def forward(self, x):
        m = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.head(self.tr(self.tok(x) + self.pos.weight[: x.size(1)], mask=m, is_causal=True))


model = LM(cfg)
optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
vx, vy = get_batch(100)
for step in range(1, cfg.steps + 1):
    x, y = get_batch(cfg.batch)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        with torch.no_grad():
            v = F.cross_entropy(model(vx).flatten(0, 1), vy.flatten())
        print(f"step={step} train_loss={loss.item():.4f} val_loss={v.item():.4f}")
