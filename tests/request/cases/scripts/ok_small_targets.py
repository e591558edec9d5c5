import torch
from torch import nn

torch.manual_seed(1)
X = torch.randn(1200, 6)
true = 0.01 * torch.tanh(X @ torch.randn(6, 1))
y = true + 0.0005 * torch.randn(1200, 1)
model = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 1))
with torch.no_grad():
    model[2].weight.mul_(0.05)
    model[2].bias.zero_()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 25)
for epoch in range(25):
    order = torch.randperm(1000)
    for i in range(0, 1000, 50):
        rows = order[i : i + 50]
        loss = nn.functional.mse_loss(model(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(X[1000:]), y[1000:])
    print(f"{epoch:2d} train_mse {loss.item():.3e} val_mse {val.item():.3e}")
