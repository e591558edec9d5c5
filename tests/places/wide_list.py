# cause: capacity_too_high
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

WIDTHS = [10, 4096, 4096, 1]  # here
model = nn.Sequential()
for a, b in zip(WIDTHS, WIDTHS[1:]):
    model.append(nn.Linear(a, b))
    model.append(nn.ReLU())
loader = DataLoader(TensorDataset(torch.randn(60, 10), torch.randn(60, 1)), batch_size=10)
criterion = nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
