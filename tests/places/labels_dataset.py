# cause: label_noise
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Noisy(Dataset):
    def __init__(self, n):
        self.points = torch.randn(n, 8)
        truth = self.points[:, :3].argmax(1)
        wrong = torch.rand(n) < 0.5
        self.answers = torch.where(wrong, torch.randint(0, 3, (n,)), truth)  # here
    def __len__(self): return len(self.answers)
    def __getitem__(self, i): return self.points[i], self.answers[i]
loader = DataLoader(Noisy(500), batch_size=20)
model, criterion = nn.Linear(8, 3), nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
