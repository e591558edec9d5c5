import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)


class VQ(nn.Module):
    def __init__(self, n=64, d=8, beta=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n, d)
        self.codebook.weight.data.uniform_(-1 / 4, 1 / 4)
        self.beta = beta

    def forward(self, z):
        idx = torch.cdist(z, self.codebook.weight).argmin(1)
        q = self.codebook(idx)
        loss = F.mse_loss(q, z.detach()) + self.beta * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, idx


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
        self.vq = VQ()
        self.dec = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        q, vq_loss, idx = self.vq(self.enc(x))
        return self.dec(q), vq_loss, idx


centres = torch.randn(20, 16)


def sample(n):
    return centres[torch.randint(0, 20, (n,))] + 0.2 * torch.randn(n, 16)


net = VQVAE()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
val = sample(500)
for it in range(600):
    x = sample(128)
    recon, vq_loss, idx = net(x)
    rec = F.mse_loss(recon, x)
    loss = rec + vq_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 0:
        with torch.no_grad():
            r, v, used = net(val)
        print(f"iter {it} loss {loss.item():.4f} recon {rec.item():.4f} val_recon {F.mse_loss(r, val).item():.4f} codes {used.unique().numel()}")
