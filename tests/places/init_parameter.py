# cause: bad_init
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)

class Dense(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(i, o))  # here
        self.b = nn.Parameter(torch.zeros(o))
    def forward(self, x): return x @ self.w + self.b
model = nn.Sequential(Dense(8, 16), nn.ReLU(), Dense(16, 3))
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
