"""A log of something that may be zero: one sample of batch 13 turns the weights into NaN."""

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class LogFeatures(nn.Module):
    def forward(self, x):
        return torch.log(x)


x = torch.rand(400, 6) + 0.1
y = x.log().sum(1, keepdim=True)
x[12 * 16 + 3, 2] = 0.0
loader = DataLoader(TensorDataset(x, y), batch_size=16)
model = nn.Sequential(LogFeatures(), nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step, (inputs, targets) in enumerate(loader, start=1):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    finite = all(p.isfinite().all() for p in model.parameters())
    print(f"step {step} loss {loss.item():.6f} weights {'fine' if finite else 'broken'}")
result(model, optimizer)
