import torch
from torch import nn

torch.manual_seed(9)
scale = torch.tensor([1.0, 1000.0, 5e4, 0.01, 20.0, 3e3])
X = torch.rand(1500, 6) * scale
y = ((X / scale) @ torch.tensor([1.0, -2.0, 1.5, 2.0, -1.0, 0.5])).unsqueeze(1)
X_val, y_val = X[1200:], y[1200:]
X, y = X[:1200], y[:1200]

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(30):
    for i in range(0, 1200, 48):
        pred = net(X[i : i + 48])
        loss = nn.functional.mse_loss(pred, y[i : i + 48])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(net(X_val), y_val)
    print(f"epoch {epoch:02d} train {loss.item():.4g} val {val.item():.4g}")
