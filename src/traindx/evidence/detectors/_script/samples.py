"""Small training scripts for the cases of script detectors: right but for the parts that are given."""

from __future__ import annotations

from traindx.source import Script
from traindx.source.script import parse_script

_TEMPLATE = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
{top}

class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.second = nn.Linear(width, 3)
        {init}

    def forward(self, x):
        {forward}

model = Net()
criterion = nn.CrossEntropyLoss()
{setup}
optimizer = {optimizer}
{after}
for epoch in range(5):
    {start}
    for i, (x, y) in enumerate({loader}):
        {body}
    {end}
"""
_USUAL = {
    "top": "",
    "init": "pass",
    "forward": "return self.second(torch.relu(self.first(x)))",
    "setup": "",
    "optimizer": "torch.optim.Adam(model.parameters(), lr=1e-3)",
    "after": "",
    "start": "model.train()",
    "loader": "loader",
    "body": "optimizer.zero_grad()\nloss = criterion(model(x), y)\nloss.backward()\noptimizer.step()",
    "end": "pass",
}
_INDENTS = {"init": 8, "forward": 8, "start": 4, "end": 4, "body": 8}


def script(**parts: str) -> Script:
    """The usual training with some of its parts written otherwise."""
    filled = {name: parts.get(name, usual) for name, usual in _USUAL.items()}
    for name, indent in _INDENTS.items():
        filled[name] = filled[name].replace("\n", "\n" + " " * indent)
    return parse_script(_TEMPLATE.format(**filled))
