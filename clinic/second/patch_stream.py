import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(0, 5, (n,), generator=g)
        look = torch.randn(5, 3, 6, 6, generator=torch.Generator().manual_seed(1))
        self.cache = look[self.kind] + 0.6 * torch.randn(n, 3, 6, 6, generator=g)
        self.position = 0

    def __len__(self):
        return len(self.kind)

    def read(self):
        return self.cache[self.position]

    def __getitem__(self, index):
        return self.read(), self.kind[index]


torch.manual_seed(0)
train_loader = DataLoader(Patches(1600, 0), batch_size=40, shuffle=True)
val_loader = DataLoader(Patches(400, 1), batch_size=200)
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    net.train()
    total = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() / len(train_loader)
    net.eval()
    with torch.no_grad():
        vl = sum(loss_fn(net(x), y).item() for x, y in val_loader) / len(val_loader)
    print(f"epoch {epoch + 1} loss {total:.4f} val_loss {vl:.4f}")
