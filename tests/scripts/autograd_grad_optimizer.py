"""torch.autograd.grad and an optimizer: gradients are put where the optimizer looks for them."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(4)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for it in range(20):
    x = torch.randn(24, 5)
    loss = nn.functional.l1_loss(model(x), x.abs().sum(1, keepdim=True))
    grads = torch.autograd.grad(loss, list(model.parameters()))
    for p, g in zip(model.parameters(), grads, strict=True):
        p.grad = g
    norm = torch.cat([g.flatten() for g in grads]).norm()
    optimizer.step()
    print(f"it {it + 1} loss {loss.item():.6f} norm {norm.item():.6f}")
result(model, optimizer)
