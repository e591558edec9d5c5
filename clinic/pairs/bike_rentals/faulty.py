import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_bikes(n, seed):
    """Hour, weekday, temperature, humidity and wind -> log of the rentals."""
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, n)
    weekday = rng.integers(0, 7, n)
    temp, hum, wind = rng.uniform(-1, 1, (3, n))
    y = np.sin(hour / 24 * 2 * np.pi - 2) + 0.4 * (weekday < 5) * np.cos(hour / 12 * 2 * np.pi)
    y += 0.8 * temp - 0.5 * temp**2 - 0.4 * hum - 0.2 * wind + rng.normal(0, 0.1, n)
    x = np.c_[np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), weekday / 3 - 1, temp, hum, wind]
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=1e-5)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--bs", type=int, default=64)
    return p.parse_args()


if __name__ == "__main__":
    args = get_args()
    torch.manual_seed(0)
    train = DataLoader(load_bikes(2500, 0), batch_size=args.bs, shuffle=True)
    valid = DataLoader(load_bikes(600, 1), batch_size=300)
    model = nn.Sequential(
        nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0)
    )
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    mse = nn.MSELoss()
    for epoch in range(args.epochs):
        for x, y in train:
            opt.zero_grad()
            loss = mse(model(x), y)
            loss.backward()
            opt.step()
        with torch.no_grad():
            val = np.mean([mse(model(x), y).item() for x, y in valid])
        print(f"epoch {epoch}: loss {loss.item():.4f}  val_loss {val:.4f}")
