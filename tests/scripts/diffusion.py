"""Denoising diffusion on points in the plane, with an EMA of the weights."""

import copy
import math

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
T = 50
betas = torch.linspace(1e-4, 0.05, T)
alphas_bar = torch.cumprod(1 - betas, 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("freqs", torch.exp(-math.log(100.0) * torch.arange(8) / 8), persistent=False)
        self.net = nn.Sequential(
            nn.Linear(2 + 16, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2)
        )

    def forward(self, x, t):
        arg = t[:, None].float() * self.freqs
        return self.net(torch.cat([x, arg.sin(), arg.cos()], dim=-1))


model = Denoiser()
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=40)
for step in range(1, 41):
    angle = torch.rand(128) * 2 * math.pi
    x0 = torch.stack([angle.cos(), angle.sin()], 1)
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    a = alphas_bar[t][:, None]
    noisy = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = (noise - model(noisy, t)).square().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)
    optimizer.step()
    lr = scheduler.get_last_lr()[0]
    scheduler.step()
    with torch.no_grad():
        for mine, theirs in zip(ema.parameters(), model.parameters(), strict=True):
            mine.lerp_(theirs, 0.05)
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.6f} lr {lr:.8f}")
result(model, ema, optimizer)
