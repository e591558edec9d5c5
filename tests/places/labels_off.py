# cause: misaligned_labels
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Steps(Dataset):
    def __init__(self): self.x = torch.randn(500, 8); self.y = self.x[:, :3].argmax(1)
    def __len__(self): return 499
    def __getitem__(self, i):
        return self.x[i], self.y[i + 1]  # here
loader = DataLoader(Steps(), batch_size=20)
model, criterion = nn.Linear(8, 3), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
