# cause: bad_init
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
X, Y = torch.randn(500, 8), torch.randint(0, 3, (500,))
loader = DataLoader(TensorDataset(X, Y), batch_size=25, shuffle=True)

def wild(m):
    if isinstance(m, nn.Linear):
        m.weight.data.normal_(0, 5.0)  # here
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 3))
model.apply(wild)
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
