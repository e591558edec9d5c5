# cause: constant_inputs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

images = torch.randint(0, 255, (500, 1, 8, 8), dtype=torch.uint8)
labels = torch.randint(0, 3, (500,))
images = (images // 256).float()  # here
loader = DataLoader(TensorDataset(images, labels), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
