import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Songs(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 8, (n,), generator=g)
        t = torch.linspace(0, 6.28, 48)
        f = 1 + self.y[:, None].float()
        self.x = torch.sin(f * t + torch.rand(n, 1, generator=g) * 6.28) + 0.4 * torch.randn(n, 48, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class SongNet(nn.Module):
    def __init__(self, p=0.9):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(48, 96), nn.ReLU(), nn.Dropout(p),
            nn.Linear(96, 96), nn.ReLU(), nn.Dropout(p),
            nn.Linear(96, 96), nn.ReLU(), nn.Dropout(p),
        )
        self.head = nn.Linear(96, 8)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
train_dl, val_dl = DataLoader(Songs(2000, 0), 50, shuffle=True), DataLoader(Songs(400, 1), 200)
model = SongNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(1, 13):
    model.train()
    tl = 0.0
    for x, y in train_dl:
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tl += loss.item() / len(train_dl)
    model.eval()
    with torch.no_grad():
        vl = sum(loss_fn(model(x), y).item() for x, y in val_dl) / len(val_dl)
        va = sum((model(x).argmax(1) == y).float().mean().item() for x, y in val_dl) / len(val_dl)
    print(f"epoch {epoch} train loss {tl:.4f} val loss {vl:.4f} val acc {va:.3f}")
