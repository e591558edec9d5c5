# cause: too_little_data
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

X, Y = torch.randn(5000, 20), torch.randn(5000, 1)
train = TensorDataset(X[:40], Y[:40])  # here
loader = DataLoader(train, batch_size=8, shuffle=True)
model, criterion = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1)), nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
