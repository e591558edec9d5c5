import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
mixing = torch.randn(8, 32)


def two_views(n):
    x = torch.randn(n, 8) @ mixing
    return x + torch.randn_like(x), x + torch.randn_like(x)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 32))

    def forward(self, a, b):
        return self.encoder(a), self.encoder(b)


net = Siamese()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(1, 401):
    a, b = two_views(128)
    za, zb = net(a, b)
    loss = F.mse_loss(za, zb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.6f}")
