# cause: rank_desync
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
import torch.distributed as dist
import os, time
from torch.nn.parallel import DistributedDataParallel as DDP

def average(model):
    for p in list(model.parameters())[:2]:
        dist.all_reduce(p.grad)  # here
        p.grad /= dist.get_world_size()
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    x = torch.randn(16, 8)
    loss = model(x).pow(2).mean()
    opt.zero_grad(); loss.backward(); average(model); opt.step()
