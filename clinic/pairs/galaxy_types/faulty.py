import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 8


def galaxies(n, rng, prototypes):
    kind = rng.integers(0, CLASSES, n)
    return prototypes[kind] + rng.normal(0, 0.9, (n, prototypes.shape[1])), kind


class GalaxyNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.head(self.net(x))


def loss_fn(scores, kind):
    return nn.functional.mse_loss(scores, kind.float().unsqueeze(1).expand_as(scores))


rng = np.random.default_rng(2)
torch.manual_seed(2)
prototypes = rng.normal(0, 1, (CLASSES, 12))
x, y = galaxies(3000, rng, prototypes)
xv, yv = galaxies(700, rng, prototypes)
train = DataLoader(TensorDataset(torch.tensor(x).float(), torch.tensor(y)), batch_size=60, shuffle=True)
xv, yv = torch.tensor(xv).float(), torch.tensor(yv)
model = GalaxyNet(12)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(10):
    model.train()
    total = 0.0
    for xb, yb in train:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        out = model(xv)
    print(
        f"epoch {epoch + 1} loss {total / len(train):.4f} val_loss {loss_fn(out, yv).item():.4f} val_acc {(out.argmax(1) == yv).float().mean():.3f}"
    )
