# Damped pendulum with unknown friction law: theta'' = -k sin(theta) - drag_net(omega). Adam first, L-BFGS to finish.
import math, torch, torch.nn as nn
torch.set_default_dtype(torch.float64); torch.manual_seed(8)
K_TRUE, DT, SIG = 4.0, 0.05, 0.01
true_drag = lambda w: 0.25 * w + 0.35 * torch.tanh(3 * w)

class Model(nn.Module):
    def __init__(s):
        super().__init__()
        s.logk = nn.Parameter(torch.tensor(math.log(2.5)))
        s.drag = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
    def rhs(s, z):
        th, w = z[..., :1], z[..., 1:]
        return torch.cat([w, -s.logk.exp() * th.sin() - s.drag(w)], -1)

def rk4(f, z, h):
    a = f(z); b = f(z + h / 2 * a); c = f(z + h / 2 * b); d = f(z + h * c)
    return z + h / 6 * (a + 2 * b + 2 * c + d)
def rollout(f, z, n):
    out = []
    for _ in range(n):
        z = rk4(f, z, DT); out.append(z)
    return torch.stack(out, 1)

def f_true(z): return torch.cat([z[..., 1:], -K_TRUE * z[..., :1].sin() - true_drag(z[..., 1:])], -1)
N, H = 300, 6
def make(n):
    z0 = torch.stack([torch.rand(n) * 4 - 2, torch.rand(n) * 6 - 3], 1)
    clean = rollout(f_true, z0, H)
    return z0, clean + SIG * torch.randn_like(clean)
z_tr, y_tr = make(N); z_va, y_va = make(200)
m = Model()
def loss_on(z, y): return ((rollout(m.rhs, z, H) - y) ** 2).mean() / SIG ** 2     # chi^2 per point, floor = 1
def report(tag, i, l):
    with torch.no_grad(): v = loss_on(z_va, y_va).item()
    print(f"{tag:6s} {i:4d} chi2/n train {l:10.4f} valid {v:10.4f} k {m.logk.exp().item():.4f}")

adam = torch.optim.Adam(m.parameters(), lr=1e-2)
for i in range(1, 301):
    idx = torch.randperm(N)[:100]
    adam.zero_grad(); l = loss_on(z_tr[idx], y_tr[idx]); l.backward(); adam.step()
    if i % 30 == 0 or i == 1: report("adam", i, l.item())

lb = torch.optim.LBFGS(m.parameters(), lr=1.0, max_iter=10, history_size=20, line_search_fn="strong_wolfe")
def closure():
    lb.zero_grad(); l = loss_on(z_tr, y_tr); l.backward(); return l
for i in range(1, 11):
    l = lb.step(closure)
    report("lbfgs", i, l.item())
w = torch.linspace(-3, 3, 101)[:, None]
with torch.no_grad():
    print(f"k error {abs(m.logk.exp().item() - K_TRUE):.4f}; drag rmse {((m.drag(w) - true_drag(w)) ** 2).mean().sqrt():.4f} (range {true_drag(w).abs().max():.2f})")
    print(f"true model chi2/n: train {((rollout(f_true, z_tr, H) - y_tr) ** 2).mean() / SIG**2:.4f} valid {((rollout(f_true, z_va, H) - y_va) ** 2).mean() / SIG**2:.4f}")
