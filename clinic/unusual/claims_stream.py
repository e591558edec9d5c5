import numpy as np, torch
from torch import nn

# Online severity model: claims arrive four at a time and are never seen again.
# Residuals are Student-t with 1.6 d.o.f. (infinite variance), so Huber it is.

rs = np.random.default_rng(2024)
torch.manual_seed(2024)


def truth(x):
    return 1.2 * x[..., 0] - 0.8 * x[..., 1] + 0.9 * np.sin(1.5 * x[..., 2])


def arrivals(n):
    x = rs.uniform(-1.7, 1.7, size=(n, 5))
    y = truth(x) + 0.6 * rs.standard_t(1.6, size=n)
    return torch.from_numpy(x).float(), torch.from_numpy(y).float()


x_hold, y_hold = arrivals(8000)

net = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
crit = nn.HuberLoss(delta=1.0)
N = 3000
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: max(0.01, 1 - k / N))

for k in range(N):
    xb, yb = arrivals(4)
    opt.zero_grad()
    loss = crit(net(xb).squeeze(1), yb)
    loss.backward()
    opt.step()
    sch.step()
    if k % 25 == 0:
        print(f"{k:>5} claim-batch loss {loss.item():8.3f}")
    if (k + 1) % 250 == 0:
        with torch.no_grad():
            p = net(x_hold).squeeze(1)
            print(f"{k+1:>5} ---- holdout huber {crit(p, y_hold).item():.4f}   median |resid| {(p - y_hold).abs().median().item():.4f}")
