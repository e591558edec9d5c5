import torch
from torch import nn

torch.manual_seed(7)
x = torch.randn(960, 10)
y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] + 0.2 * torch.randn(960, 1)
model = nn.Sequential(nn.Linear(10, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
accumulate = 4
for epoch in range(12):
    perm = torch.randperm(800)
    opt.zero_grad()
    for k, i in enumerate(range(0, 800, 10)):
        b = perm[i : i + 10]
        loss = nn.functional.mse_loss(model(x[b]), y[b]) / accumulate
        loss.backward()
        if (k + 1) % accumulate == 0:
            opt.step()
            opt.zero_grad()
    with torch.no_grad():
        print(f"epoch {epoch} val_mse {nn.functional.mse_loss(model(x[800:]), y[800:]).item():.4f}")
