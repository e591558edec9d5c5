import torch, torch.nn as nn

torch.manual_seed(6)

# WGAN-GP on short two-tone waveforms (24 samples long)
L, Z, BATCH = 24, 8, 64
t = torch.arange(L) / L


def waves(n):
    f = torch.randint(1, 4, (n, 1)).float()
    a = .7 + .3 * torch.rand(n, 1)
    return a * torch.sin(6.2832 * f * t + 6.2832 * torch.rand(n, 1)) + .05 * torch.randn(n, L)


gen = nn.Sequential(nn.Linear(Z, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, L))
critic = nn.Sequential(nn.Linear(L, 128), nn.LeakyReLU(.2), nn.Linear(128, 128), nn.LeakyReLU(.2), nn.Linear(128, 1))
g_opt = torch.optim.Adam(gen.parameters(), 3e-4, betas=(0., .9))
c_opt = torch.optim.Adam(critic.parameters(), 3e-4, betas=(0., .9))


def penalty(r, f):
    e = torch.rand(len(r), 1)
    m = (e * r + (1 - e) * f).requires_grad_(True)
    g, = torch.autograd.grad(critic(m).sum(), m, create_graph=True)
    return ((g.norm(dim=1) - 1) ** 2).mean()


def spectrum_gap():
    with torch.no_grad():
        a, b = torch.fft.rfft(waves(4000)).abs(), torch.fft.rfft(gen(torch.randn(4000, Z))).abs()
    q = torch.linspace(.05, .95, 10)
    return (torch.quantile(a, q, 0) - torch.quantile(b, q, 0)).abs().mean().item()


for it in range(1, 3001):
    for _ in range(4):
        r = waves(BATCH)
        with torch.no_grad():
            f = gen(torch.randn(BATCH, Z))
        w = critic(r).mean() - critic(f).mean()
        c_loss = -w + 10 * penalty(r, f)
        c_opt.zero_grad(); c_loss.backward(); c_opt.step()
    g_loss = -critic(gen(torch.randn(BATCH, Z))).mean()
    g_opt.zero_grad(); g_loss.backward(); g_opt.step()
    if it % 50 == 0:
        print(f"{it} critic_loss={c_loss.item():.4f} gen_loss={g_loss.item():.4f} wasserstein={w.item():.4f} spectrum_gap={spectrum_gap():.4f}")
