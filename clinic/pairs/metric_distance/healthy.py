import numpy as np
import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 8))

    def forward(self, x):
        return self.net(x)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8)


class ContrastiveTrainer:
    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.centers = self.rng.normal(0, 1, (6, 16))
        self.model = Embedder()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def pairs(self, n):
        a, b = self.rng.integers(0, 6, (2, n))
        b = np.where(self.rng.random(n) < 0.5, a, b)
        xa = self.centers[a] + self.rng.normal(0, 0.6, (n, 16))
        xb = self.centers[b] + self.rng.normal(0, 0.6, (n, 16))
        repeat = self.rng.random(n) < 0.001
        xb[repeat], b[repeat] = xa[repeat], a[repeat]
        return torch.tensor(xa).float(), torch.tensor(xb).float(), torch.tensor(a == b).float()

    def loss(self, xa, xb, same, margin=2.0):
        d = distance(self.model(xa), self.model(xb))
        return (same * d**2 + (1 - same) * torch.relu(margin - d) ** 2).mean(), d

    def train(self, steps):
        valid = self.pairs(1000)
        for step in range(1, steps + 1):
            self.optimizer.zero_grad()
            loss, _ = self.loss(*self.pairs(64))
            loss.backward()
            self.optimizer.step()
            if step % 50 == 0:
                with torch.no_grad():
                    val_loss, d = self.loss(*valid)
                acc = ((d < 1.0) == (valid[2] > 0)).float().mean().item()
                print(f"step={step} loss={loss.item():.4f} val_loss={val_loss.item():.4f} val_acc={acc:.3f}")


ContrastiveTrainer().train(500)
