"""Every parameter has its own optimizer that steps as soon as its gradient is there."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
optimizers = {p: torch.optim.Adam([p], lr=1e-2, foreach=False) for p in model.parameters()}


def optimizer_hook(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)

way = torch.randn(16, 4)
for i in range(20):
    x = torch.randn(64, 16)
    loss = nn.functional.cross_entropy(model(x), (x @ way).argmax(-1))
    loss.backward()
    print(f"iteration {i} loss {loss.item():.6f}")

result(model, list(optimizers.values()))
