import torch
import torch.nn as nn

torch.manual_seed(60)
LATENT = 4


def real(n):
    angle = torch.rand(n) * 2 * torch.pi
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(LATENT, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(1, 601):
    fake = G(torch.randn(64, LATENT))
    d_loss = bce(D(real(64)), 0.9 * one) + bce(D(fake.detach()), zero)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(G(torch.randn(64, LATENT))), one)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 50 == 0:
        with torch.no_grad():
            radius = G(torch.randn(500, LATENT)).norm(dim=1)
        print(
            f"step {step} d_loss {d_loss.item():.4f} g_loss {g_loss.item():.4f} radius {radius.mean().item():.3f} +- {radius.std().item():.3f}"
        )
