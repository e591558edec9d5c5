"""Regression with a progress bar drawn over itself on standard error."""

import sys

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import DataLoader, TensorDataset


class bar:
    def __init__(self, iterable, desc):
        self.iterable, self.desc, self.postfix = iterable, desc, ""

    def set_postfix(self, **values):
        self.postfix = ", ".join(f"{k}={v}" for k, v in values.items())

    def __iter__(self):
        total = len(self.iterable)
        for n, item in enumerate(self.iterable, 1):
            yield item
            width = 10 * n // total
            sys.stderr.write(
                f"\r{self.desc}: {100 * n // total:3d}%|{'█' * width}{' ' * (10 - width)}| {n}/{total} [{self.postfix}]"
            )
            sys.stderr.flush()
        sys.stderr.write("\n")


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.linspace(-3, 3, 320).unsqueeze(1)
loader = DataLoader(TensorDataset(x, x.sin()), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    pbar = bar(loader, desc=f"Epoch {epoch + 1}/3")
    for inputs, targets in pbar:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        pbar.set_postfix(loss=f"{loss.item():.4f}")
    print(f"Epoch {epoch + 1} last loss {loss.item():.6f}")
result(model, optimizer)
