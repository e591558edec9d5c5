# cause: train_val_mismatch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

X, Y = torch.rand(1000, 5) * 255, torch.randint(0, 2, (1000,))
X_tr, y_tr = X[:800] / 255, Y[:800]
X_va, y_va = X[800:], Y[800:]  # here
model = nn.Linear(5, 2)
opt = torch.optim.Adam(model.parameters())
for epoch in range(10):
    for i in range(0, 800, 50):
        loss = F.cross_entropy(model(X_tr[i:i + 50]), y_tr[i:i + 50])
        opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        print(F.cross_entropy(model(X_va), y_va).item())
