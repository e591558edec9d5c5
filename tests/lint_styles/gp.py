import torch, torch.nn as nn
G = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2)); D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
og = torch.optim.Adam(G.parameters(), 1e-4, (0.0, 0.9)); od = torch.optim.Adam(D.parameters(), 1e-4, (0.0, 0.9))
for step in range(1000):
    for _ in range(5):
        real = torch.randn(64, 2); fake = G(torch.randn(64, 16)).detach()
        a = torch.rand(64, 1); mix = (a * real + (1 - a) * fake).requires_grad_()
        g = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)[0]
        loss = D(fake).mean() - D(real).mean() + 10 * ((g.norm(2, 1) - 1) ** 2).mean()
        od.zero_grad(); loss.backward(); od.step()
    gl = -D(G(torch.randn(64, 16))).mean()
    og.zero_grad(); gl.backward(); og.step()
