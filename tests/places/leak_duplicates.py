# cause: data_leakage
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

x = torch.randn(300, 8).repeat(3, 1)  # here
y = torch.randint(0, 2, (300,)).repeat(3)
tr, va = random_split(TensorDataset(x, y), [700, 200])  # here
loader, val = DataLoader(tr, batch_size=20, shuffle=True), DataLoader(va, batch_size=50)
model, criterion = nn.Linear(8, 2), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
    with torch.no_grad(): print(sum(criterion(model(a), b).item() for a, b in val))
