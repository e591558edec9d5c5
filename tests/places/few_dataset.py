# cause: too_little_data
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Small(Dataset):
    def __init__(self, size): self.x, self.y = torch.randn(size, 8), torch.randint(0, 3, (size,))
    def __len__(self): return len(self.y)
    def __getitem__(self, i): return self.x[i], self.y[i]
TRAIN_SIZE = 30  # here
loader = DataLoader(Small(size=TRAIN_SIZE), batch_size=10, shuffle=True)
model, criterion = nn.Linear(8, 3), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
