from dataclasses import dataclass, field
from typing import List

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 5
    n_train: int = 3600
    n_val: int = 900
    length: int = 64
    channels: List[int] = field(default_factory=lambda: [16, 32])
    n_classes: int = 5
    epochs: int = 10
    batch_size: int = 48
    lr: float = 1e-3
    weight_decay: float = 1e-4
    grad_clip: float = 1.0


def waveforms(cfg: Config, n: int, rng: np.random.Generator):
    """sine / square / sawtooth / chirp / burst with random frequency, phase and noise."""
    t = np.linspace(0, 1, cfg.length)[None]
    label = rng.integers(0, cfg.n_classes, n)
    f = rng.uniform(3, 7, (n, 1))
    ph = rng.uniform(0, 1, (n, 1))
    cyc = f * t + ph
    centre = rng.uniform(0.25, 0.75, (n, 1))
    bank = np.stack([
        np.sin(2 * np.pi * cyc),
        np.sign(np.sin(2 * np.pi * cyc)),
        2 * (cyc % 1) - 1,
        np.sin(2 * np.pi * (ph + f * t * (0.3 + 1.4 * t))),
        np.sin(2 * np.pi * 2 * cyc) * np.exp(-0.5 * ((t - centre) / 0.1) ** 2) * 1.5,
    ])
    x = bank[label, np.arange(n)] + rng.normal(0, 0.7, (n, cfg.length))
    return TensorDataset(torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(label))


class WaveNetwork(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        blocks, c_in = [], 1
        for c_out in cfg.channels:
            blocks += [nn.Conv1d(c_in, c_out, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2)]
            c_in = c_out
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Sequential(nn.Linear(2 * c_in, 32), nn.ReLU(), nn.Linear(32, cfg.n_classes))

    def forward(self, x):
        h = self.features(x)
        return self.classifier(torch.cat([h.mean(-1), h.amax(-1)], dim=1))


def run_split(model, loader, loss_fn, optimizer=None, clip=None):
    training = optimizer is not None
    model.train(training)
    tot_loss, tot_hit, n = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            out = model(x)
            loss = loss_fn(out, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), clip)
                optimizer.step()
            tot_loss += loss.item() * len(y)
            tot_hit += (out.argmax(1) == y).sum().item()
            n += len(y)
    return tot_loss / n, tot_hit / n


def main(cfg: Config):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train_dl = DataLoader(waveforms(cfg, cfg.n_train, rng), batch_size=cfg.batch_size, shuffle=True)
    val_dl = DataLoader(waveforms(cfg, cfg.n_val, rng), batch_size=300)
    model = WaveNetwork(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    loss_fn = nn.CrossEntropyLoss()
    print(cfg)
    for epoch in range(cfg.epochs):
        tl, ta = run_split(model, train_dl, loss_fn, optimizer, cfg.grad_clip)
        vl, va = run_split(model, val_dl, loss_fn)
        print(f"{epoch:3d} train loss {tl:.4f} acc {ta:.3f} - val loss {vl:.4f} acc {va:.3f}")


if __name__ == "__main__":
    main(Config())
