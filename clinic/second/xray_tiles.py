import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class ConvBN(nn.Sequential):
    def __init__(self, i, o):
        super().__init__(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class TileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(ConvBN(1, 8), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.fc1 = nn.Linear(128, 64)
        self.bn = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 5)

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(self.f(x)))))


def tiles(n):
    y = torch.randint(0, 5, (n,))
    level = torch.linspace(-1, 1, 5)[y]
    x = torch.randn(n, 1, 8, 8) * 0.5
    x[:, 0] += level[:, None, None] * torch.linspace(-1, 1, 8)[None, :, None]
    return TensorDataset(x, y)


train_loader = DataLoader(tiles(600), batch_size=2, shuffle=True)
val_loader = DataLoader(tiles(300), batch_size=100)
model = TileNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    model.train()
    total = 0.0
    for i, (x, y) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        if i % 50 == 49:
            print(f"epoch {epoch} batch {i + 1} loss {total / (i + 1):.4f}")
    model.eval()
    with torch.no_grad():
        vl, hit = 0.0, 0
        for x, y in val_loader:
            out = model(x)
            vl += criterion(out, y).item() / len(val_loader)
            hit += (out.argmax(1) == y).sum().item()
    print(f"epoch {epoch} val_loss {vl:.4f} val_acc {hit / 300:.3f}")
