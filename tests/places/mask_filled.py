# cause: empty_targets
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

PAD = 0
def batch():
    ids = torch.randint(1, 50, (16, 12))
    labels = ids.clone()
    labels = labels.masked_fill(torch.ones_like(ids).bool(), -100)  # here
    return ids, labels
model = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    ids, labels = batch()
    loss = F.cross_entropy(model(ids).transpose(1, 2), labels)
    opt.zero_grad(); loss.backward(); opt.step()
