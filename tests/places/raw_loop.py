# cause: unnormalised_inputs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

def load():
    rng = np.random.default_rng(0)
    pressure = rng.normal(101325, 500, 500)
    humidity = rng.uniform(0, 1, 500)
    table = np.stack([pressure, humidity], axis=1)  # here
    return torch.as_tensor(table).float(), torch.as_tensor(humidity * 2).float()
inputs, targets = load()
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters())
for step in range(200):
    idx = torch.randint(0, 500, (32,))
    loss = F.mse_loss(model(inputs[idx]).squeeze(1), targets[idx])
    opt.zero_grad(); loss.backward(); opt.step()
