import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def photograph(n, seed):
    """Grey 12x12 photographs (0 to 255) of bars, upright or lying."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    images = rng.normal(90, 25, (n, 12, 12))
    for image, lying in zip(images, y):
        k = rng.integers(2, 10)
        if lying:
            image[k - 1 : k + 1, :] += 45
        else:
            image[:, k - 1 : k + 1] += 45
    return images.clip(0, 255).astype("uint8"), y


class Photos(Dataset):
    def __init__(self, images, labels, transform):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.transform(torch.tensor(self.images[i], dtype=torch.float32)[None]), int(self.labels[i])


train_transform = lambda image: (image / 255 - 0.38) / 0.12
val_transform = lambda image: image / 255

torch.manual_seed(6)
train_loader = DataLoader(Photos(*photograph(1200, 0), train_transform), batch_size=30, shuffle=True)
val_loader = DataLoader(Photos(*photograph(300, 1), val_transform), batch_size=100)
model = nn.Sequential(
    nn.Conv2d(1, 8, 5),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(8 * 16, 24),
    nn.ReLU(),
    nn.Linear(24, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    model.train()
    total = 0.0
    for image, label in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(image), label)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        outs = [(model(image), label) for image, label in val_loader]
    val_loss = sum(criterion(o, y).item() for o, y in outs) / len(outs)
    val_acc = sum((o.argmax(1) == y).sum().item() for o, y in outs) / 300
    print(
        f"epoch {epoch + 1} train_loss {total / len(train_loader):.4f} val_loss {val_loss:.4f} val_acc {val_acc:.3f}"
    )
