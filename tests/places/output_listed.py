# cause: output_mismatch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers.append(nn.Linear(a, b))
        layers.append(nn.Tanh())  # here
    return nn.Sequential(*layers)
X = torch.randn(100, 4); Y = X.sum(1, keepdim=True) * 10
loader = DataLoader(TensorDataset(X, Y), batch_size=10)
model = mlp([4, 16, 1])
criterion = nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
