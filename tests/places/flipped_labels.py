# cause: label_noise
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

x = torch.randn(1000, 6)
clean = (x[:, 0] > 0).long()
flip = torch.rand(1000) < 0.4
y = torch.where(flip, 1 - clean, clean)  # here
loader = DataLoader(TensorDataset(x[:800], y[:800]), batch_size=32)
model, criterion = nn.Linear(6, 2), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
