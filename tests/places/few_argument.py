# cause: too_little_data
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

import argparse
p = argparse.ArgumentParser()
p.add_argument("--samples", type=int, default=50)  # here
args = p.parse_args()
def make(n):
    x = np.random.normal(size=(n, 10)).astype("float32")
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(x.sum(1)))
loader = DataLoader(make(args.samples), batch_size=8)
model, criterion = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0)), nn.MSELoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
