# cause: train_val_mismatch
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

from torchvision import transforms
class Pictures(Dataset):
    def __init__(self, n, augment=None):
        self.images, self.labels, self.augment = torch.rand(n, 3, 8, 8), torch.randint(0, 2, (n,)), augment
    def __len__(self): return len(self.labels)
    def __getitem__(self, i): return self.augment(self.images[i]), self.labels[i]
normalise = transforms.Compose([transforms.Normalize([0.5] * 3, [0.25] * 3)])
plain = transforms.Compose([transforms.Lambda(lambda x: x * 255)])  # here
loader = DataLoader(Pictures(500, augment=normalise), batch_size=10, shuffle=True)
val_loader = DataLoader(Pictures(100, augment=plain), batch_size=10)
model = nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
criterion = nn.CrossEntropyLoss()

opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        opt.step()
    with torch.no_grad(): print(sum(criterion(model(a), b).item() for a, b in val_loader))
