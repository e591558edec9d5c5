# cause: output_mismatch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, 1)
    def forward(self, x):
        h = self.body(x)
        out = self.head(h)
        return torch.sigmoid(out)  # here
X = torch.randn(100, 4); Y = X.sum(1, keepdim=True) * 10
loader = DataLoader(TensorDataset(X, Y), batch_size=10)
model, criterion = Net(), nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
