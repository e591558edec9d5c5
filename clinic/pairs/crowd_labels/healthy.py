import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 4
VOTES = 9


class CrowdDataset(Dataset):
    """Points in four groups; each was labelled by the majority of so many visitors, who mostly guess."""

    def __init__(self, n, votes, rng, centers):
        self.group = rng.integers(0, CLASSES, n)
        self.x = torch.tensor(centers[self.group] + rng.normal(0, 0.8, (n, 8)), dtype=torch.float32)
        if votes:
            cast = np.where(
                rng.random((n, votes)) < 0.5, self.group[:, None], rng.integers(0, CLASSES, (n, votes))
            )
            self.y = np.array([np.bincount(row, minlength=CLASSES).argmax() for row in cast])
        else:
            self.y = self.group

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], int(self.y[i])


def accuracy(model, loader):
    with torch.no_grad():
        return np.mean([(model(x).argmax(1) == y).float().mean().item() for x, y in loader])


torch.manual_seed(3)
rng = np.random.default_rng(3)
centers = rng.normal(0, 1.2, (CLASSES, 8))
train_loader = DataLoader(CrowdDataset(2000, VOTES, rng, centers), batch_size=50, shuffle=True)
val_loader = DataLoader(CrowdDataset(500, 0, rng, centers), batch_size=250)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(12):
    model.train()
    losses = []
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        val_loss = np.mean([criterion(model(x), y).item() for x, y in val_loader])
    print(
        f"epoch {epoch + 1} loss {np.mean(losses):.4f} acc {accuracy(model, train_loader):.3f} "
        f"val_loss {val_loss:.4f} val_acc {accuracy(model, val_loader):.3f}"
    )
