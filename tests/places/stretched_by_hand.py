# cause: shape_broadcast
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x)[:, 0]


def distance(guess, level):
    gap = guess - level  # here
    return gap.abs().mean()


levels = TensorDataset(torch.randn(500, 6), torch.randn(500, 1))
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
for _ in range(5):
    for x, level in DataLoader(levels, batch_size=50, shuffle=True):
        loss = distance(flow(x), level)
        opt.zero_grad()
        loss.backward()
        opt.step()
