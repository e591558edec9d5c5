import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)


def shapes(n, seed):
    g = torch.Generator().manual_seed(seed)
    imgs = 0.3 * torch.randn(n, 1, 16, 16, generator=g)
    labels = torch.randint(0, 4, (n,), generator=g)
    for i, c in enumerate(labels.tolist()):
        r = int(torch.randint(2, 12, (1,), generator=g))
        if c == 0:
            imgs[i, 0, r] += 1.5
        elif c == 1:
            imgs[i, 0, :, r] += 1.5
        elif c == 2:
            imgs[i, 0, r:r + 4, r:r + 4] += 1.5
        else:
            imgs[i, 0] += 1.5 * torch.eye(16)
    return imgs, labels


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )

    def forward(self, x):
        return self.features(x)


backbone = Backbone()
# stands in for torch.load("backbone.pt"): running statistics as after pre-training
with torch.no_grad():
    backbone.train()
    for _ in range(30):
        backbone(shapes(64, 5)[0])

for p in backbone.parameters():
    p.requires_grad = False
backbone.eval()

head = nn.Linear(256, 4)
model = nn.Sequential(backbone, head)
optimizer = torch.optim.Adam(head.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
train_loader = DataLoader(TensorDataset(*shapes(1200, 1)), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(*shapes(300, 2)), batch_size=100)

for epoch in range(8):
    head.train()
    total = 0.0
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    head.eval()
    correct, val_total = 0, 0.0
    with torch.no_grad():
        for images, labels in val_loader:
            out = model(images)
            val_total += criterion(out, labels).item()
            correct += (out.argmax(1) == labels).sum().item()
    print(f"epoch {epoch + 1}: loss {total / len(train_loader):.4f} "
          f"val_loss {val_total / len(val_loader):.4f} val_acc {correct / 300:.3f}")
