from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    n_features: int = 40
    n_classes: int = 12
    width: int = 96
    depth: int = 7
    lr: float = 5e-4
    weight_decay: float = 1e-4
    batch_size: int = 128
    epochs: int = 10
    seed: int = 11


def build_data(cfg):
    g = np.random.default_rng(cfg.seed)
    protos = g.normal(size=(cfg.n_classes, 2, 10))
    mix = g.normal(size=(10, cfg.n_features)) / np.sqrt(10)
    n = 9000
    y = g.integers(0, cfg.n_classes, n)
    variant = g.integers(0, 2, n)
    z = 1.0 * protos[y, variant] + 0.45 * g.normal(size=(n, 10))
    x = np.tanh(z @ mix * 1.2) + 0.3 * g.normal(size=(n, cfg.n_features))
    x = (x - x.mean(0)) / x.std(0)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    return TensorDataset(x[:7000], y[:7000]), TensorDataset(x[7000:], y[7000:])


class GestureNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        dims = [cfg.n_features] + [cfg.width] * cfg.depth
        blocks = []
        for a, b in zip(dims[:-1], dims[1:]):
            blocks += [nn.Linear(a, b), nn.Tanh()]
        self.body = nn.Sequential(*blocks)
        self.head = nn.Linear(cfg.width, cfg.n_classes)
        self.body.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, mean=0.0, std=1.0)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        train, val = build_data(cfg)
        self.train_dl = DataLoader(train, cfg.batch_size, shuffle=True)
        self.val_dl = DataLoader(val, 500)
        self.net = GestureNet(cfg)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.loss_fn = nn.CrossEntropyLoss()

    def run_epoch(self, loader, training):
        self.net.train(training)
        tot, hit, n = 0.0, 0, 0
        with torch.set_grad_enabled(training):
            for xb, yb in loader:
                logits = self.net(xb)
                loss = self.loss_fn(logits, yb)
                if training:
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                tot += loss.item() * len(yb)
                hit += (logits.argmax(1) == yb).sum().item()
                n += len(yb)
        return tot / n, hit / n

    def fit(self):
        for ep in range(1, self.cfg.epochs + 1):
            tl, ta = self.run_epoch(self.train_dl, True)
            vl, va = self.run_epoch(self.val_dl, False)
            print(f"[{ep:02d}/{self.cfg.epochs}] train loss={tl:.4f} acc={ta:.3f} | val loss={vl:.4f} acc={va:.3f}")


if __name__ == "__main__":
    Trainer(Config()).fit()
