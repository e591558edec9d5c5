"""SimCLR in small: two noisy views of every sample, NT-Xent."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(inplace=True))
        self.projector = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


def nt_xent(z1, z2, temperature=0.2):
    z = torch.cat([z1, z2])
    similarity = z @ z.t() / temperature
    similarity.fill_diagonal_(-torch.inf)
    n = len(z1)
    positives = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(similarity, positives)


encoder = Encoder()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=3e-3)
pool = torch.randn(256, 16)
for step in range(1, 26):
    batch = pool[torch.randperm(256)[:64]]
    view1 = batch + 0.2 * torch.randn_like(batch)
    view2 = batch + 0.2 * torch.randn_like(batch)
    loss = nt_xent(encoder(view1), encoder(view2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step={step} loss={loss.item():.6f}")
result(encoder, optimizer)
