"""The learning rate is far too high: the loss explodes and becomes NaN."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
first = None
for step in range(1, 41):
    x = torch.randn(64, 8)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if first is None and not torch.isfinite(loss):
        first = step
    print(f"step {step} loss {loss.item():.6g}")
print("first non-finite loss at step", first)
result(model, optimizer)
