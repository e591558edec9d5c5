# cause: class_imbalance
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

x = torch.randn(2000, 6)
score = x[:, 0] + 0.3 * torch.randn(2000)
y = (score > 2.3).long()
train_x, train_y = x[:1600], y[:1600]
loader = DataLoader(TensorDataset(train_x, train_y), batch_size=64, shuffle=True)
model, criterion = nn.Linear(6, 2), nn.CrossEntropyLoss()  # here

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
