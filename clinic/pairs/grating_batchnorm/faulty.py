import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH_SIZE = 2
EPOCHS = 8


def gratings(n, seed):
    r = np.random.default_rng(seed)
    label = r.integers(0, 5, n)
    yy, xx = np.meshgrid(np.arange(10), np.arange(10), indexing="ij")
    theta = label * np.pi / 5
    wave = np.cos(
        0.9 * (xx * np.cos(theta)[:, None, None] + yy * np.sin(theta)[:, None, None])
        + r.uniform(0, 6.28, (n, 1, 1))
    )
    image = wave + r.normal(0, 0.7, wave.shape)
    return TensorDataset(torch.tensor(image[:, None], dtype=torch.float32), torch.tensor(label))


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 10, 3),
            nn.BatchNorm2d(10),
            nn.ReLU(),
            nn.Conv2d(10, 16, 3),
            nn.BatchNorm2d(16),
            nn.ReLU(),
        )
        self.classifier = nn.Sequential(
            nn.Linear(16 * 36, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 5)
        )

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


torch.manual_seed(8)
train_loader = DataLoader(gratings(640, 0), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)
val_loader = DataLoader(gratings(400, 1), batch_size=100)
model = SmallNet()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
ce = nn.CrossEntropyLoss()
for epoch in range(EPOCHS):
    model.train()
    losses = []
    for x, y in train_loader:
        opt.zero_grad()
        loss = ce(model(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        outs = [(model(x), y) for x, y in val_loader]
        vloss = np.mean([ce(o, y).item() for o, y in outs])
        vacc = np.mean([(o.argmax(1) == y).float().mean().item() for o, y in outs])
    print(f"epoch {epoch + 1}: train {np.mean(losses):.3f} | val_loss {vloss:.3f} | val_acc {vacc:.3f}")
