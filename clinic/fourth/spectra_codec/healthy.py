from __future__ import annotations

import csv
import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn


@dataclass
class CodecConfig:
    bands: int = 96
    latent: int = 6
    width: int = 96
    n_train: int = 3000
    n_valid: int = 600
    batch: int = 64
    epochs: int = 25
    lr: float = 1e-3
    seed: int = 17


def sample_spectra(n: int, cfg: CodecConfig, rng: np.random.Generator) -> np.ndarray:
    grid = np.linspace(0, 1, cfg.bands)
    c1 = rng.uniform(0.1, 0.45, (n, 1))
    c2 = rng.uniform(0.55, 0.9, (n, 1))
    a1, a2 = rng.uniform(0.5, 2.0, (2, n, 1))
    slope = rng.normal(0, 0.6, (n, 1))
    y = a1 * np.exp(-((grid - c1) / 0.08) ** 2) + a2 * np.exp(-((grid - c2) / 0.12) ** 2) + slope * (grid - 0.5)
    return y + rng.normal(0, 0.04, y.shape)


class Encoder(nn.Module):
    def __init__(self, cfg: CodecConfig):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(cfg.bands, cfg.width), nn.GELU(), nn.Linear(cfg.width, cfg.width), nn.GELU())
        self.to_code = nn.Linear(cfg.width, cfg.latent)

    def forward(self, x: Tensor) -> Tensor:
        return self.to_code(self.body(x))


class Decoder(nn.Module):
    def __init__(self, cfg: CodecConfig):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(cfg.latent, cfg.width), nn.GELU(), nn.Linear(cfg.width, cfg.width), nn.GELU())
        self.to_bands = nn.Linear(cfg.width, cfg.bands)

    def forward(self, z: Tensor) -> Tensor:
        return self.to_bands(self.body(z))


def fit(cfg: CodecConfig) -> None:
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    raw_train, raw_valid = sample_spectra(cfg.n_train, cfg, rng), sample_spectra(cfg.n_valid, cfg, rng)
    mu, sd = raw_train.mean(0), raw_train.std(0)
    xt = torch.as_tensor((raw_train - mu) / sd, dtype=torch.float32)
    xv = torch.as_tensor((raw_valid - mu) / sd, dtype=torch.float32)

    enc, dec = Encoder(cfg), Decoder(cfg)
    opt = torch.optim.AdamW([*enc.parameters(), *dec.parameters()], lr=cfg.lr, weight_decay=1e-4)
    log = csv.writer(sys.stdout)
    log.writerow(["epoch", "train_mse", "valid_mse", "explained"])
    for epoch in range(cfg.epochs):
        enc.train(), dec.train()
        seen = 0.0
        for pick in torch.randperm(cfg.n_train).split(cfg.batch):
            x = xt[pick]
            loss = nn.functional.mse_loss(dec(enc(x)), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += loss.item() * len(pick)
        enc.eval(), dec.eval()
        with torch.no_grad():
            valid = nn.functional.mse_loss(dec(enc(xv)), xv).item()
        log.writerow([epoch, f"{seen / cfg.n_train:.5f}", f"{valid:.5f}", f"{1 - valid / xv.var().item():.4f}"])


if __name__ == "__main__":
    fit(CodecConfig())
