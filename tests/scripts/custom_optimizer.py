"""Lion, written by hand as a torch optimizer, wrapped in a lookahead that is no torch optimizer."""

import torch
import torch.nn as nn
from fingerprint import result
from torch.optim import Optimizer


class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                avg = state["exp_avg"]
                p.add_((avg * beta1 + p.grad * (1 - beta1)).sign_(), alpha=-group["lr"])
                avg.mul_(beta2).add_(p.grad, alpha=1 - beta2)
        return loss


class Lookahead:
    def __init__(self, optimizer, k=5, alpha=0.5):
        self.optimizer, self.k, self.alpha, self.count = optimizer, k, alpha, 0
        self.slow = [[p.detach().clone() for p in g["params"]] for g in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            for group, slow in zip(self.optimizer.param_groups, self.slow, strict=True):
                for p, s in zip(group["params"], slow, strict=True):
                    s += self.alpha * (p.data - s)
                    p.data.copy_(s)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(6, 32), nn.ELU(), nn.Linear(32, 2))
    lion = Lion(model.parameters(), lr=3e-3, weight_decay=1e-2)
    optimizer = Lookahead(lion)
    for i in range(1, 31):
        x = torch.randn(64, 6)
        y = (x.sum(1) > 0).long()
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(model(x).log_softmax(1), y)
        loss.backward()
        optimizer.step()
        if i % 5 == 0:
            print(f"[{i:3d}] loss: {loss.item():.6f}")
    result(model, lion)
