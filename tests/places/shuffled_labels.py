# cause: misaligned_labels
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

x = torch.randn(1000, 6)
y = (x[:, 0] > 0).long()
x = x[torch.randperm(1000)]
y = y[torch.randperm(1000)]  # here
loader = DataLoader(TensorDataset(x, y), batch_size=32)
model, criterion = nn.Linear(6, 2), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
