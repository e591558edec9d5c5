import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectraNet(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.fc1 = nn.Linear(60, 80)
        self.fc2 = nn.Linear(80, 80)
        self.fc3 = nn.Linear(80, 6)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        x = self.dropout(F.relu(self.fc1(x)))
        x = self.dropout(F.relu(self.fc2(x)))
        return self.fc3(x)


def spectra(n, rng):
    wavelength = np.linspace(0, 1, 60)
    label = rng.integers(0, 6, n)
    centre = 0.15 + 0.14 * label + rng.normal(0, 0.02, n)
    curve = np.exp(-((wavelength - centre[:, None]) ** 2) / 0.004) + rng.normal(0, 0.35, (n, 60))
    return torch.tensor(curve, dtype=torch.float32), torch.tensor(label)


rng = np.random.default_rng(31)
torch.manual_seed(31)
x, y = spectra(2500, rng)
xv, yv = spectra(500, rng)
net = SpectraNet(p=0.93)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(10):
    net.train()
    train_loss, train_hits = 0.0, 0
    for idx in torch.randperm(2500).split(50):
        out = net(x[idx])
        loss = F.cross_entropy(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        train_loss += loss.item() / 50
        train_hits += (out.argmax(1) == y[idx]).sum().item()
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(
        f"epoch {epoch:2d} loss {train_loss:.3f} acc {train_hits / 2500:.3f} "
        f"val_loss {F.cross_entropy(out, yv).item():.3f} val_acc {(out.argmax(1) == yv).float().mean().item():.3f}"
    )
