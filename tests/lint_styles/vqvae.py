import torch, torch.nn as nn, torch.nn.functional as F
class VQ(nn.Module):
    def __init__(self, n, d):
        super().__init__(); self.emb = nn.Embedding(n, d)
    def forward(self, z):
        dist = (z.pow(2).sum(1, keepdim=True) - 2 * z @ self.emb.weight.t() + self.emb.weight.pow(2).sum(1))
        idx = dist.argmin(1); q = self.emb(idx)
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(q.detach(), z)
        return z + (q - z).detach(), loss
class Model(nn.Module):
    def __init__(self):
        super().__init__(); self.enc = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)); self.vq = VQ(64, 8); self.dec = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
    def forward(self, x):
        z, l = self.vq(self.enc(x)); return self.dec(z), l
m = Model(); opt = torch.optim.Adam(m.parameters(), 1e-3)
for s in range(100):
    x = torch.randn(32, 16); r, l = m(x); loss = F.mse_loss(r, x) + l
    opt.zero_grad(); loss.backward(); opt.step()
