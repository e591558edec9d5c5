# Day-ahead style forecast of the electricity load of 40 feeders (hourly readings, kW).
import json
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

HIST, HORIZON = 24, 6


def simulate(n_feeders=40, hours=24 * 35, seed=5):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    rows = []
    for _ in range(n_feeders):
        base = rng.uniform(180, 420)
        day = rng.uniform(40, 90) * np.sin(2 * np.pi * (t - rng.uniform(0, 24)) / 24)
        half = rng.uniform(10, 30) * np.sin(4 * np.pi * (t - rng.uniform(0, 12)) / 24)
        week = rng.uniform(10, 35) * np.sin(2 * np.pi * t / 168 + rng.uniform(0, 6))
        drift = np.zeros(hours)
        for k in range(1, hours):
            drift[k] = 0.95 * drift[k - 1] + rng.normal(0, 5)
        rows.append(base + day + half + week + drift + rng.normal(0, 4, hours))
    return np.stack(rows).astype(np.float32)


class FeederWindows(Dataset):
    def __init__(self, inputs, targets, stride):
        self.inputs, self.targets = inputs, targets
        last = inputs.shape[1] - HIST - HORIZON
        self.where = [(f, a) for f in range(len(inputs)) for a in range(0, last + 1, stride)]

    def __len__(self):
        return len(self.where)

    def __getitem__(self, i):
        f, a = self.where[i]
        mid = a + HIST
        return torch.from_numpy(self.inputs[f, a:mid]), torch.from_numpy(self.targets[f, mid:mid + HORIZON])


def zscore(a, mean, std):
    return ((a - mean) / std).astype(np.float32)


class Forecaster(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.skip = nn.Linear(HIST, HORIZON)
        self.out = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, HORIZON))

    def forward(self, x):
        _, h = self.gru(x.unsqueeze(-1))
        return self.skip(x) + self.out(h[-1])


def run_eval(model, loader):
    model.eval()
    se = ae = n = 0
    with torch.no_grad():
        for x, y in loader:
            e = model(x) - y
            se += e.pow(2).sum().item()
            ae += e.abs().sum().item()
            n += e.numel()
    return se / n, ae / n


def main():
    torch.manual_seed(5)
    load = simulate()
    split = int(load.shape[1] * 0.8)
    past, recent = load[:, :split], load[:, split:]
    mean, std = float(past.mean()), float(past.std())
    x_past, y_past = zscore(past, mean, std), zscore(past, mean, std)
    y_recent = zscore(recent, mean, std)
    x_recent = zscore(recent, mean, std)
    train_set = FeederWindows(x_past, y_past, stride=8)
    valid_set = FeederWindows(x_recent, y_recent, stride=8)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=256)

    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)
    mse = nn.MSELoss()
    for epoch in range(10):
        model.train()
        acc = 0.0
        for x, y in train_loader:
            loss = mse(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            acc += loss.item() * len(x)
        sched.step()
        v_mse, v_mae = run_eval(model, valid_loader)
        rec = {"epoch": epoch, "train_mse": round(acc / len(train_set), 5), "valid_mse": round(v_mse, 5),
               "valid_mae": round(v_mae, 5), "lr": sched.get_last_lr()[0]}
        sys.stdout.write(json.dumps(rec) + "\n")


if __name__ == "__main__":
    main()
