# cause: saturating_activation
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)

def block(i, o):
    return nn.Sequential(nn.Linear(i, o), nn.Sigmoid())  # here
model = nn.Sequential(block(8, 32), *[block(32, 32) for _ in range(10)], nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
