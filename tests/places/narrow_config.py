# cause: capacity_too_low
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)

from dataclasses import dataclass
@dataclass
class Config:
    hidden: int = 1  # here
    lr: float = 1e-3
cfg = Config()
class Net(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, c.hidden), nn.ReLU(), nn.Linear(c.hidden, 3))
    def forward(self, x): return self.net(x)
model, criterion = Net(cfg), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
