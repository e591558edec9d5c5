"""Depth and class heads, weighted by learned uncertainties; the sum may go below zero."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
W = torch.randn(20, 20) / 4


def data(n):
    x = torch.randn(n, 20)
    h = torch.tanh(x @ W)
    depth = h[:, :2].sum(1) * 0.5 + 0.05 * torch.randn(n)
    label = h[:, 2:6].argmax(1)
    return x, depth, label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU())
        self.depth = nn.Linear(64, 1)
        self.label = nn.Linear(64, 4)
        self.log_var = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.trunk(x)
        return self.depth(h).squeeze(1), self.label(h)

    def losses(self, batch):
        x, depth, label = batch
        d, c = self(x)
        return F.mse_loss(d, depth), F.cross_entropy(c, label)

    def total(self, mse, ce):
        s = self.log_var
        return 0.5 * torch.exp(-s[0]) * mse + torch.exp(-s[1]) * ce + 0.5 * s.sum()


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
val = data(500)
for it in range(1, 701):
    mse, ce = net.losses(data(64))
    loss = net.total(mse, ce)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 0:
        with torch.no_grad():
            vm, vc = net.losses(val)
        print(f"iter {it} loss {loss.item():.4f} mse {mse.item():.4f} ce {ce.item():.4f} val_mse {vm.item():.4f} val_ce {vc.item():.4f}")
