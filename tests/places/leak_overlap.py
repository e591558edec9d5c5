# cause: data_leakage
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

X, Y = torch.randn(1000, 5), torch.randint(0, 2, (1000,))
train_x, train_y = X[:900], Y[:900]
val_x, val_y = X[500:], Y[500:]  # here
loader = DataLoader(TensorDataset(train_x, train_y), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(val_x, val_y), batch_size=32)
model = nn.Linear(5, 2)
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
    with torch.no_grad(): print(sum(criterion(model(a), b).item() for a, b in val_loader))
