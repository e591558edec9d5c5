import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Scenes(Dataset):
    """Each scene is decoded when it is asked for."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 3, (n,), generator=g)
        base = torch.randn(3, 64, generator=torch.Generator().manual_seed(3))
        self.x = base[self.y] + torch.randn(n, 64, generator=g)

    def __len__(self):
        return len(self.y)

    def decode(self, i):
        time.sleep(0.0025)
        return self.x[i]

    def __getitem__(self, i):
        return self.decode(i), self.y[i]


torch.manual_seed(0)
loader = DataLoader(Scenes(800, 0), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(4):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = ce(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item() / len(loader)
    print(f"epoch {epoch + 1} loss {total:.4f}")
