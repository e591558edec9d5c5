"""Activation checkpointing, reentrant and not."""

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.checkpoint import checkpoint

torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.reentrant = reentrant
        self.stem = nn.Linear(12, 24)
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 24), nn.GELU(), nn.Dropout(0.2)) for _ in range(3)]
        )
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + checkpoint(block, x, use_reentrant=self.reentrant)
        return self.head(x)


def run(reentrant):
    torch.manual_seed(2 + reentrant)
    net = Net(reentrant)
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    x = torch.randn(64, 12)
    y = x.cumsum(1)[:, -1:]
    for step in range(15):
        opt.zero_grad()
        loss = nn.functional.smooth_l1_loss(net(x), y)
        loss.backward()
        opt.step()
        print(f"reentrant={reentrant} step={step + 1} loss={loss.item():.6f}")
    return net, opt


if __name__ == "__main__":
    result(run(True), run(False))
