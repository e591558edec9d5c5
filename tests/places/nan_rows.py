# cause: corrupt_batch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

x = torch.randn(500, 8)
x[37, 2] = float("nan")  # here
y = torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(x, y), batch_size=20)
model, criterion = nn.Linear(8, 3), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
