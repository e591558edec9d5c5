"""zero_grad is missing: gradients add up from step to step."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()
for step in range(1, 41):
    x = torch.randn(32, 8)
    loss = criterion(model(x), (x.sum(1) > 0).long())
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f} norm {norm.item():.6f}")
result(model, optimizer)
