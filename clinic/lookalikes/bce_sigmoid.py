import torch
import torch.nn as nn

torch.manual_seed(10)
n = 2000
radius = torch.cat([torch.rand(n // 2) * 1.0, 1.3 + torch.rand(n // 2)])
angle = torch.rand(n) * 6.2832
X = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
y = (radius > 1.15).float().unsqueeze(1)
perm = torch.randperm(n)
X, y = X[perm], y[perm]

model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
loss_fn = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

n_epochs, batch_size = 30, 50
for epoch in range(n_epochs):
    for i in range(0, 1600, batch_size):
        Xbatch = X[i:i + batch_size]
        y_pred = model(Xbatch)
        ybatch = y[i:i + batch_size]
        loss = loss_fn(y_pred, ybatch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        p = model(X[1600:])
    acc = (p.round() == y[1600:]).float().mean()
    print(f"Finished epoch {epoch}, latest loss {loss.item():.4f}, val loss {loss_fn(p, y[1600:]).item():.4f}, val acc {acc:.3f}")
