# cause: unshuffled_data
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

X = torch.cat([torch.randn(200, 8) + k for k in range(3)])
Y = torch.arange(3).repeat_interleave(200)
model = nn.Linear(8, 3)
opt = torch.optim.Adam(model.parameters())
for epoch in range(5):
    for i in range(0, 600, 20):  # here
        loss = F.cross_entropy(model(X[i:i + 20]), Y[i:i + 20])
        opt.zero_grad(); loss.backward(); opt.step()
