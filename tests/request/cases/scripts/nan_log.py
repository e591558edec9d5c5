import torch
import torch.nn as nn

torch.manual_seed(0)
n = 512
x = torch.randn(n, 8)
y = (x.sum(1) > 0).float()


def focal_like(p, t):
    return -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()


net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(600):
    i = torch.randint(0, n, (128,))
    loss = focal_like(net(4 * x[i]).squeeze(1), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print("step", step, "loss", loss.item())
