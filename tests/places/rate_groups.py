# cause: lr_too_high
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

cfg = {"optim": {"name": "sgd", "lr": 8.0}}  # here
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)

model, criterion = nn.Linear(8, 3), nn.CrossEntropyLoss()
opt = getattr(torch.optim, "SGD")([{"params": model.parameters(), "lr": cfg["optim"]["lr"]}])
for e in range(3):
    for x, y in loader:
        opt.zero_grad()
        criterion(model(x), y).backward()
        opt.step()
