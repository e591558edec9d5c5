import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
SIDE = 40
ax = torch.linspace(-1, 1, SIDE)
coords = torch.stack(torch.meshgrid(ax, ax, indexing="ij"), -1).view(-1, 2)
image = (torch.sin(9 * coords[:, :1]) * torch.cos(7 * coords[:, 1:]) + (coords.norm(dim=1, keepdim=True) < 0.5).float() * 0.5)


class Sine(nn.Module):
    def __init__(self, i, o, first=False, w0=30.0):
        super().__init__()
        self.w0, self.lin = w0, nn.Linear(i, o)
        bound = 1 / i if first else (6 / i) ** 0.5 / w0
        nn.init.uniform_(self.lin.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.w0 * self.lin(x))


net = nn.Sequential(Sine(2, 64, first=True, w0=15.0), Sine(64, 64), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
for step in range(400):
    loss = ((net(coords) - image) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.6f} psnr {-10 * torch.log10(loss / 6.25).item():.2f}")
