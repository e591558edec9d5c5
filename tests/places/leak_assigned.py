# cause: data_leakage
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

x = torch.randn(500, 8)
y = (x[:, 0] + torch.randn(500) > 0).long()
x[:, 7] = y + 0.05 * torch.randn(500)  # here
tr, va = TensorDataset(x[:400], y[:400]), TensorDataset(x[400:], y[400:])
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
