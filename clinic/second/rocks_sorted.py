import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class RockFolder(Dataset):
    """Like an image folder: one class after the other."""

    def __init__(self, per_class, seed):
        g = torch.Generator().manual_seed(seed)
        centres = torch.randn(6, 1, 8, 8, generator=torch.Generator().manual_seed(42))
        self.samples = []
        for c in range(6):
            for _ in range(per_class):
                self.samples.append((centres[c] + 0.9 * torch.randn(1, 8, 8, generator=g), c))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


torch.manual_seed(0)
train_loader = DataLoader(RockFolder(200, 0), batch_size=40)
val_loader = DataLoader(RockFolder(40, 1), batch_size=120)
model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    model.train()
    for i, (x, y) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 3 == 0:
            print(f"epoch {epoch} batch {i} loss {loss.item():.4f}")
    model.eval()
    vl = acc = 0.0
    with torch.no_grad():
        for x, y in val_loader:
            o = model(x)
            vl += criterion(o, y).item() / len(val_loader)
            acc += (o.argmax(1) == y).float().mean().item() / len(val_loader)
    print(f"epoch {epoch} val_loss {vl:.4f} val_acc {acc:.3f}")
