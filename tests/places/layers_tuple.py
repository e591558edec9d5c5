# cause: untrained_parameters
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Stack(nn.Module):
    def __init__(self, depth):
        super().__init__()
        blocks = []
        for _ in range(depth):
            blocks.append(nn.Linear(8, 8))
        self.blocks = tuple(blocks)  # here
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        for b in self.blocks: x = torch.relu(b(x))
        return self.out(x)
loader = DataLoader(TensorDataset(torch.randn(100, 8), torch.randn(100, 1)), batch_size=10)
model, criterion = Stack(3), nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
