"""Sharpness-aware minimization: two gradients for every step, each with its own backward."""

import torch
import torch.nn as nn
from fingerprint import result


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, {"rho": rho, **kwargs})
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self):
        scale = self.param_groups[0]["rho"] / (self.norm() + 1e-12)
        for p in self.param_groups[0]["params"]:
            self.state[p]["old"] = p.data.clone()
            p.add_(p.grad * scale)

    @torch.no_grad()
    def second_step(self):
        for p in self.param_groups[0]["params"]:
            p.data = self.state[p]["old"]
        self.base_optimizer.step()

    def norm(self):
        return torch.stack([p.grad.norm() for p in self.param_groups[0]["params"]]).norm()


torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.1, lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for step in range(1, 21):
    x = torch.randn(32, 8)
    y = (x[:, 0] > 0).long()
    first = criterion(model(x), y)
    first.backward()
    optimizer.first_step()
    optimizer.zero_grad()
    second = criterion(model(x), y)
    second.backward()
    optimizer.second_step()
    optimizer.zero_grad()
    if step % 5 == 0:
        print(f"step {step} loss {first.item():.6f} perturbed {second.item():.6f}")
result(model, optimizer)
