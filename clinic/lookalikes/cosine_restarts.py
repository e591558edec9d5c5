import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts

torch.manual_seed(9)
X = torch.rand(2000, 3) * 2 - 1
Y = (torch.sin(4 * X[:, 0]) * X[:, 1] + X[:, 2].abs())[:, None] + 0.05 * torch.randn(2000, 1)
tr, va = slice(0, 1600), slice(1600, None)
model = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
sched = CosineAnnealingWarmRestarts(opt, T_0=10, T_mult=2, eta_min=1e-4)
mse = nn.MSELoss()
for epoch in range(70):
    model.train()
    s = 0.0
    for b in torch.randperm(1600).split(64):
        opt.zero_grad()
        loss = mse(model(X[tr][b]), Y[tr][b])
        loss.backward()
        opt.step()
        s += loss.item() * len(b)
    lr = opt.param_groups[0]["lr"]
    sched.step()
    model.eval()
    with torch.no_grad():
        v = mse(model(X[va]), Y[va]).item()
    print(f"epoch {epoch:02d} lr {lr:.5f} train_loss {s / 1600:.5f} val_loss {v:.5f}")
