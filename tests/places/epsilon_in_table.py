# cause: momentum_misset
from dataclasses import dataclass, field

import torch
import torch.nn as nn

KINDS = {"rmsprop": torch.optim.RMSprop, "adamw": torch.optim.AdamW}


@dataclass
class Plan:
    kind: str = "adamw"
    options: dict = field(default_factory=lambda: {"lr": 1e-3, "eps": 0.5})  # here


def build(plan, net):
    return KINDS[plan.kind](net.parameters(), **plan.options)


net = nn.Linear(4, 1)
opt = build(Plan(), net)
for _ in range(100):
    opt.zero_grad()
    loss = (net(torch.randn(8, 4)) ** 2).mean()
    loss.backward()
    opt.step()
