# cause: sync_bound
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class Keeper:
    def keep(self, model):
        torch.save(model.state_dict(), "m.pt")
loader = DataLoader(TensorDataset(torch.randn(100, 8), torch.randn(100, 1)), batch_size=10)
model, criterion = nn.Linear(8, 1), nn.MSELoss()
opt = torch.optim.Adam(model.parameters())
keeper = Keeper()
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
        keeper.keep(model)  # here
