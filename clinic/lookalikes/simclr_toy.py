"""Contrastive pre-training of a small encoder: two noisy views of each sample attract each other."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)


class Points(Dataset):
    def __init__(self, n=2048, dim=32, n_clusters=16):
        self.centres = torch.randn(n_clusters, dim)
        self.labels = torch.randint(0, n_clusters, (n,))
        self.x = self.centres[self.labels] + 0.5 * torch.randn(n, dim)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i]


def augment(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.2 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(32, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 64))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


def nt_xent(z1, z2, temperature=0.5):
    z = torch.cat([z1, z2])
    sim = z @ z.T / temperature
    sim.fill_diagonal_(float("-inf"))
    n = len(z1)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)])
    return F.cross_entropy(sim, target)


dataset = Points()
loader = DataLoader(dataset, batch_size=128, shuffle=True, drop_last=True)
encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3, weight_decay=1e-6)
for epoch in range(15):
    losses = []
    for x in loader:
        loss = nt_xent(encoder(augment(x)), encoder(augment(x)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"Epoch [{epoch + 1}/15] loss: {sum(losses) / len(losses):.4f}")

encoder.eval()
with torch.no_grad():
    h = F.normalize(encoder.backbone(dataset.x), dim=1)
    sim = h[:500] @ h.T
    sim[torch.arange(500), torch.arange(500)] = -2
    print("1-nn accuracy", (dataset.labels[sim.argmax(1)] == dataset.labels[:500]).float().mean().item())
