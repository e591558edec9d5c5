import math

import torch
from torch import nn

torch.manual_seed(0)
T = 100
betas = torch.linspace(1e-4, 0.06, T)
abar = torch.cumprod(1 - betas, 0)


def swirl(n):
    t = 3 * math.pi * torch.rand(n).sqrt()
    return torch.stack([t * t.cos(), t * t.sin()], 1) / 5 + 0.03 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(T, width)
        self.inp = nn.Linear(2, width)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)
        for layer in self.mid:
            h = h + layer(nn.functional.silu(h))
        return self.out(nn.functional.silu(h))


model = Denoiser()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for it in range(1, 1001):
    x0 = swirl(128)
    t = torch.randint(0, T, (128,))
    eps = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None] * x0 + (1 - abar[t]).sqrt()[:, None] * eps
    loss = (model(xt, t) - eps).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 0:
        print(f"step {it} loss {loss.item():.4f}")
