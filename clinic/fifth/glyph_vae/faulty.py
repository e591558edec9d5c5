# Variational auto-encoder on procedurally drawn glyphs.
import logging
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(format="%(asctime)s | %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
say = logging.info
torch.manual_seed(30)
rng = np.random.default_rng(30)
S = 18


def glyph():
    yy, xx = np.mgrid[:S, :S]
    img = np.zeros((S, S))
    cy, cx, r = rng.uniform(6, 12), rng.uniform(6, 12), rng.uniform(3, 6)
    img += np.exp(-(np.hypot(yy - cy, xx - cx) - r) ** 2)
    if rng.random() < .6:
        a = rng.uniform(0, np.pi)
        img += np.exp(-((yy - cy) * np.cos(a) - (xx - cx) * np.sin(a)) ** 2) * (np.hypot(yy - cy, xx - cx) < r + 2)
    return np.clip(img + rng.normal(0, .08, img.shape), 0, 1)


data = torch.tensor(np.stack([glyph() for _ in range(9000)]), dtype=torch.float32).flatten(1)
train, val = data[:8000], data[8000:]


class VAE(nn.Module):
    def __init__(self, z=12):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(S * S, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.mu, self.logvar = nn.Linear(128, z), nn.Linear(128, z)
        self.dec = nn.Sequential(nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, S * S), nn.Sigmoid())

    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (lv / 2).exp()
        return self.dec(z), mu, lv


def objective(x, rec, mu, lv):
    bce = F.binary_cross_entropy(rec, x)
    kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(1).mean()
    return bce + kl, bce, kl


model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 26):
    model.train()
    agg = np.zeros(3)
    for idx in torch.randperm(len(train)).split(64):
        x = train[idx]
        parts = objective(x, *model(x))
        opt.zero_grad()
        parts[0].backward()
        opt.step()
        agg += [p.item() * len(idx) / len(train) for p in parts]
    model.eval()
    with torch.no_grad():
        out = model(val)
        v = objective(val, *out)[0].item()
    say("epoch %02d loss %.4f (bce %.4f, kl %.4f) val %.4f", epoch, *agg, v)
with torch.no_grad():
    rec = model.dec(model.mu(model.enc(val)))
say("explained variance of validation pixels: %.4f", 1 - ((rec - val) ** 2).sum() / ((val - val.mean(0)) ** 2).sum())
