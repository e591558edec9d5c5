"""Skip-gram with sparse embedding gradients: SparseAdam for them, Adam for the rest."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(200, 16, sparse=True)
        self.context = nn.Embedding(200, 16, sparse=True)
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, u, v):
        return (self.center(u) * self.context(v)).sum(1) * self.scale


model = SkipGram()
sparse = torch.optim.SparseAdam([model.center.weight, model.context.weight], lr=0.05)
dense = torch.optim.Adam([model.scale], lr=0.01)
loss_fn = nn.BCEWithLogitsLoss()
for step in range(1, 26):
    u = torch.randint(0, 200, (64,))
    near = torch.rand(64) < 0.5
    v = torch.where(near, (u + 1) % 200, torch.randint(0, 200, (64,)))
    loss = loss_fn(model(u, v), near.float())
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.6f} scale {model.scale.item():.6f}")
result(model, sparse, dense)
