import numpy as np
import torch
from torch import nn

torch.manual_seed(5)
np.random.seed(5)


def patterns(n):
    """Sums of a few smooth bumps on 48 points."""
    grid = np.linspace(0, 1, 48)
    centre = np.random.rand(n, 3, 1)
    width = 0.05 + 0.1 * np.random.rand(n, 3, 1)
    height = np.random.rand(n, 3, 1)
    return torch.tensor(
        (height * np.exp(-((grid - centre) ** 2) / (2 * width**2))).sum(1), dtype=torch.float32
    )


def init_weights(layer):
    if isinstance(layer, nn.Linear):
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(48, 64), nn.Tanh(), nn.Linear(64, 12), nn.Tanh())
        self.decoder = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 48))

    def forward(self, x):
        return self.decoder(self.encoder(x))


net = AutoEncoder()
net.apply(init_weights)
data, held_out = patterns(3000), patterns(500)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
batch = 60
for epoch in range(15):
    perm = torch.randperm(len(data))
    losses = []
    for k in range(0, len(data), batch):
        x = data[perm[k : k + batch]]
        rec = net(x)
        loss = ((rec - x) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with torch.no_grad():
        val = ((net(held_out) - held_out) ** 2).mean().item()
    print(f"epoch {epoch:3d} | train {np.mean(losses):.5f} | val loss {val:.5f}")
