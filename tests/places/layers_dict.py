# cause: untrained_parameters
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Experts(nn.Module):
    def __init__(self, names=("a", "b")):
        super().__init__()
        self.gate = nn.Linear(8, 2)
        self.experts = {}  # here
        for name in names:
            self.experts[name] = nn.Linear(8, 1)  # here
    def forward(self, x):
        w = self.gate(x).softmax(1)
        return w[:, :1] * self.experts["a"](x) + w[:, 1:] * self.experts["b"](x)
loader = DataLoader(TensorDataset(torch.randn(100, 8), torch.randn(100, 1)), batch_size=10)
model, criterion = Experts(), nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
