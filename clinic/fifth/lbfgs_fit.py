"""Physics-informed fit of a damped oscillator, full-batch L-BFGS."""
import torch
from torch import nn

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
t_obs = torch.linspace(0, 3, 40)[:, None]
w0, d = 4.0, 0.35
true = lambda t: torch.exp(-d * t) * torch.cos(torch.sqrt(torch.tensor(w0 ** 2 - d ** 2)) * t)
u_obs = true(t_obs) + 0.03 * torch.randn(40, 1)
t_col = torch.linspace(0, 5, 160)[:, None].requires_grad_(True)

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=30, line_search_fn="strong_wolfe")
calls = 0


def losses():
    u = net(t_col)
    du, = torch.autograd.grad(u.sum(), t_col, create_graph=True)
    ddu, = torch.autograd.grad(du.sum(), t_col, create_graph=True)
    res = ddu + 2 * d * du + w0 ** 2 * u
    return ((net(t_obs) - u_obs) ** 2).mean(), (res ** 2).mean()


def closure():
    global calls
    opt.zero_grad()
    data, phys = losses()
    loss = data + 1e-3 * phys
    loss.backward()
    calls += 1
    return loss


for outer in range(1, 81):
    loss = opt.step(closure)
    if outer % 4 == 0:
        a, b = losses()
        print(f"outer {outer:3d} evals {calls:5d} total {loss.item():.3e} data {a.item():.3e} physics {b.item():.3e}")
with torch.no_grad():
    tt = torch.linspace(3, 5, 100)[:, None]
    print("extrapolation RMSE on [3, 5]: %.5f" % ((net(tt) - true(tt)) ** 2).mean().sqrt().item())
