# cause: constant_inputs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Frames(Dataset):
    def __init__(self, n):
        self.frames, self.kind = torch.rand(n, 64), torch.randint(0, 3, (n,))
        self.cursor = 0
    def __len__(self): return len(self.kind)
    def __getitem__(self, i):
        frame = self.frames[self.cursor]  # here
        return frame, self.kind[i]
loader = DataLoader(Frames(500), batch_size=20)
model, criterion = nn.Linear(64, 3), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
