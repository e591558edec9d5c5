"""A small regression: SGD with momentum, a schedule, batches from a loader."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--epochs", type=int, default=10)
args = parser.parse_args()

torch.manual_seed(1)
x = torch.randn(480, 8)
y = x[:, :1] - x[:, 1:2].abs() + 0.1 * torch.randn(480, 1)
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
for _ in range(args.epochs):
    for inputs, targets in DataLoader(TensorDataset(x, y), 24, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    schedule.step()
