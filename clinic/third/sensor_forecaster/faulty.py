import csv
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class SensorWindows(Dataset):
    """Windows over a bundle of noisy seasonal sensors; target is the next few readings."""

    def __init__(self, n_windows, seed, history=30, horizon=4):
        rng = np.random.default_rng(seed)
        t = np.arange(history + horizon)
        period = rng.uniform(8, 20, (n_windows, 1))
        phase = rng.uniform(0, 2 * np.pi, (n_windows, 1))
        amp = rng.uniform(0.5, 1.5, (n_windows, 1))
        slope = rng.normal(0, 0.02, (n_windows, 1))
        base = amp * np.sin(2 * np.pi * t / period + phase) + slope * t
        series = base + rng.normal(0, 0.08, base.shape)
        self.x = torch.tensor(series[:, :history, None], dtype=torch.float32)
        self.y = torch.tensor(series[:, history:], dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Forecaster(nn.Module):
    def __init__(self, hidden=40, horizon=4):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.proj = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, horizon))

    def forward(self, x):
        _, h = self.rnn(x)
        return self.proj(h[-1])


class Trainer:
    def __init__(self, model, train_data, val_data, lr=3e-3, batch_size=50, max_steps=900, log_every=60):
        self.model = model
        self.train_loader = DataLoader(train_data, batch_size=batch_size, shuffle=True)
        self.val_loader = DataLoader(val_data, batch_size=250)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.MSELoss()
        self.max_steps = max_steps
        self.log_every = log_every
        self.step = 0
        self.writer = csv.writer(sys.stdout)

    def training_step(self, batch):
        x, y = batch
        self.model.train()
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        mse, mae, n = 0.0, 0.0, 0
        for x, y in self.val_loader:
            pred = self.model(x)
            mse += self.loss_fn(pred, y).item() * len(x)
            mae += (pred - y).abs().mean().item() * len(x)
            n += len(x)
        return mse / n, mae / n

    def fit(self):
        self.writer.writerow(["step", "train_loss", "val_loss", "val_mae"])
        recent = []
        batches = iter(self.train_loader)
        while self.step < self.max_steps:
            try:
                batch = next(batches)
            except StopIteration:
                batches = iter(self.train_loader)
                batch = next(batches)
            recent.append(self.training_step(batch))
            self.step += 1
            if self.step % self.log_every == 0:
                val_loss, val_mae = self.validate()
                self.writer.writerow([self.step, f"{np.mean(recent):.5f}", f"{val_loss:.5f}", f"{val_mae:.5f}"])
                recent = []


if __name__ == "__main__":
    torch.manual_seed(21)
    trainer = Trainer(Forecaster(), SensorWindows(4000, seed=1), SensorWindows(1000, seed=2))
    trainer.fit()
