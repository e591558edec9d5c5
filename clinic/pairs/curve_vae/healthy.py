import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(55)
BETA = 0.05


def curves(n):
    t = torch.linspace(0, 1, 32)
    a, f, p = 0.5 + torch.rand(n, 1), 1 + 2 * torch.rand(n, 1), 6.28 * torch.rand(n, 1)
    return a * torch.sin(6.28 * f * t + p)


class VAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(32, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, latent), nn.Linear(64, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo(x, recon, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1).mean()
    return rec + BETA * kl, rec, kl


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
x_val = curves(500)
for step in range(1, 601):
    x = curves(64)
    loss, rec, kl = elbo(x, *model(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            val_loss, val_rec, val_kl = elbo(x_val, *model(x_val))
        print(
            f"step {step} loss {loss.item():.3f} recon {rec.item():.3f} kl {kl.item():.4f} val_loss {val_loss.item():.3f} val_recon {val_rec.item():.3f}"
        )
