# cause: over_regularised
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)

P = 0.9  # here
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 32), nn.Linear(32, 3)
    def forward(self, x):
        return self.b(F.dropout(F.relu(self.a(x)), p=P, training=self.training))
model, criterion = Net(), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
