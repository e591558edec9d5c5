"""Smoke run before the long job: a small ViT-ish encoder on synthetic mosaics, one pass over the data."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset


class Mosaics(IterableDataset):
    """4x4 tiles of 6x6 pixels. Label: which of 8 tile textures occurs most often."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed
        g = np.random.default_rng(1)
        self.tex = g.normal(size=(8, 36))

    def __iter__(self):
        g = np.random.default_rng(self.seed)
        for _ in range(self.n):
            k = g.integers(0, 8)
            tiles = g.integers(0, 8, 16)
            tiles[g.choice(16, 6, replace=False)] = k
            c = np.bincount(tiles, minlength=8)
            yield torch.tensor(self.tex[tiles] + g.normal(0, .8, (16, 36)), dtype=torch.float32), int(c.argmax())


class Encoder(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.inp = nn.Linear(36, d)
        self.pos = nn.Parameter(torch.zeros(1, 16, d))
        layer = nn.TransformerEncoderLayer(d, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.out = nn.Linear(d, 8)

    def forward(self, x):
        return self.out(self.enc(self.inp(x) + self.pos).mean(1))


torch.manual_seed(5)
model = Encoder()
opt = torch.optim.AdamW(model.parameters(), lr=1.5e-5)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 100))
for step, (x, y) in enumerate(DataLoader(Mosaics(11000, 2), batch_size=64)):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    warm.step()
    if step % 5 == 0:
        print(f"step={step} loss={loss.item():.4f}")
model.eval()
hit = n = 0
with torch.no_grad():
    for x, y in DataLoader(Mosaics(2000, 3), batch_size=250):
        hit += (model(x).argmax(1) == y).sum().item()
        n += len(y)
print(f"accuracy after the smoke run {hit / n:.4f}")
