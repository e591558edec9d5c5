import torch
from names import NAMES
from torch import nn


class Core(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, len(NAMES)))

    def forward(self, x):
        return self.layers(x)


def batch():
    x = torch.randn(20, 5)
    return x, x[:, : len(NAMES)].argmax(1)
