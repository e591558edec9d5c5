# cause: collapsed_outputs
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split

class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(16, 4), nn.Linear(2, 16)
    def forward(self, x):
        mu, lv = self.enc(x).chunk(2, 1)
        return self.dec(mu + torch.randn_like(mu) * (lv / 2).exp()), mu, lv
model = VAE()
opt = torch.optim.Adam(model.parameters())
for step in range(100):
    x = torch.randn(32, 16)
    r, mu, lv = model(x)
    kl = 0.5 * (mu ** 2 + lv.exp() - 1 - lv).sum(1).mean()
    total = F.mse_loss(r, x) + 50.0 * kl  # here
    opt.zero_grad(); total.backward(); opt.step()
