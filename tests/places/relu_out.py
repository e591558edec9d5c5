# cause: output_mismatch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

from collections import OrderedDict
model = nn.Sequential(OrderedDict([
    ("fc1", nn.Linear(8, 16)),
    ("act", nn.ReLU()),
    ("fc2", nn.Linear(16, 1)),
    ("out", nn.Tanh()),  # here
]))
X = torch.randn(300, 8)
loader = DataLoader(TensorDataset(X, 20 * X[:, :1]), batch_size=20)
criterion = nn.L1Loss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
