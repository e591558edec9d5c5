# cause: empty_targets
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Tokens(Dataset):
    def __init__(self): self.ids = torch.randint(3, 50, (200, 12))
    def __len__(self): return 200
    def __getitem__(self, i):
        ids = self.ids[i]
        labels = torch.where(ids > 2, torch.tensor(-1), ids)  # here
        return ids, labels
loader = DataLoader(Tokens(), batch_size=8)
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(50, 16); self.o = nn.Linear(16, 50)
    def forward(self, x): return self.o(self.e(x)).transpose(1, 2)
model = LM()
criterion = nn.CrossEntropyLoss(ignore_index=-1)

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
