import torch
import torch.nn as nn

torch.manual_seed(123)
# m u'' + mu u' + k u = 0, u(0) = 1, u'(0) = 0
d, w0 = 1.0, 5.0
mu, k = 2 * d, w0 ** 2


def exact(t):
    w = (w0 ** 2 - d ** 2) ** 0.5
    phi = torch.atan(torch.tensor(-d / w))
    a = 1 / (2 * torch.cos(phi))
    return torch.exp(-d * t) * 2 * a * torch.cos(phi + w * t)


pinn = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
t_boundary = torch.zeros(1, 1, requires_grad=True)
t_physics = torch.linspace(0, 1, 40).view(-1, 1).requires_grad_(True)
t_test = torch.linspace(0, 1, 200).view(-1, 1)
optimiser = torch.optim.Adam(pinn.parameters(), lr=2e-3)
for i in range(1501):
    optimiser.zero_grad()
    u = pinn(t_boundary)
    loss1 = (torch.squeeze(u) - 1) ** 2
    dudt = torch.autograd.grad(u, t_boundary, torch.ones_like(u), create_graph=True)[0]
    loss2 = (torch.squeeze(dudt) - 0) ** 2
    u = pinn(t_physics)
    dudt = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
    d2udt2 = torch.autograd.grad(dudt, t_physics, torch.ones_like(dudt), create_graph=True)[0]
    loss3 = torch.mean((d2udt2 + mu * dudt + k * u) ** 2)
    loss = loss1 + 1e-1 * loss2 + 1e-3 * loss3
    loss.backward()
    optimiser.step()
    if i % 100 == 0:
        with torch.no_grad():
            err = (pinn(t_test) - exact(t_test)).abs().mean()
        print(f"{i} loss {loss.item():.6f} error {err.item():.4f}")
