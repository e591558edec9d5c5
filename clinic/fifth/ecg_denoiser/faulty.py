import logging
import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn, optim

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s:%(message)s")
logger = logging.getLogger(__name__)


@dataclass
class Config:
    seed: int = 21
    length: int = 96
    n_train: int = 4000
    n_val: int = 600
    epochs: int = 26
    batch: int = 50
    lr: float = 1e-3


def beats(n, length, rng):
    t = np.linspace(0, 1, length)
    out = np.zeros((n, length))
    for i in range(n):
        period = rng.uniform(.28, .45)
        c = rng.uniform(0, period)
        amp = rng.uniform(.7, 1.4)
        while c < 1.1:
            out[i] += amp * (1.1 * np.exp(-((t - c) / .012) ** 2) - .45 * np.exp(-((t - c - .03) / .012) ** 2)
                             + .3 * np.exp(-((t - c - .12) / .035) ** 2) + .15 * np.exp(-((t - c + .08) / .02) ** 2))
            c += period
        out[i] += .25 * np.sin(2 * np.pi * (rng.uniform(.5, 1.5) * t + rng.random()))
    return out


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, 16, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(16, 32, 5, stride=2, padding=2), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 24, 48))
        self.decoder = nn.Sequential(
            nn.Linear(48, 32 * 24), nn.ReLU(), nn.Unflatten(1, (32, 24)),
            nn.ConvTranspose1d(32, 16, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1), nn.ReLU(),
            nn.Conv1d(8, 1, 5, padding=2), nn.ReLU())

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        rng = np.random.default_rng(cfg.seed)
        clean = beats(cfg.n_train + cfg.n_val, cfg.length, rng)
        clean = (clean - clean[:cfg.n_train].mean()) / clean[:cfg.n_train].std()
        self.clean = torch.tensor(clean, dtype=torch.float32).unsqueeze(1)
        self.val_noise = .6 * torch.randn(cfg.n_val, 1, cfg.length)
        self.model = Denoiser()
        self.opt = optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.loss = nn.MSELoss()

    def epoch(self):
        self.model.train()
        total = 0
        for idx in torch.randperm(self.cfg.n_train).split(self.cfg.batch):
            x = self.clean[idx]
            rec = self.model(x + .6 * torch.randn_like(x))
            loss = self.loss(rec, x)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(idx)
        return total / self.cfg.n_train

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        x = self.clean[self.cfg.n_train:]
        return self.loss(self.model(x + self.val_noise), x).item()

    def fit(self):
        for e in range(self.cfg.epochs):
            tr, va = self.epoch(), self.validate()
            logger.info("epoch %d/%d - loss: %.5f - val_loss: %.5f", e + 1, self.cfg.epochs, tr, va)
        logger.info("SNR gain: %.3f dB", 10 * np.log10(.36 / va))


if __name__ == "__main__":
    Trainer(Config()).fit()
