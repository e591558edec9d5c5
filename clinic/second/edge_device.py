"""Train the gateway model in bfloat16, the type it will be deployed in."""
import torch
import torch.nn as nn

torch.manual_seed(0)
DTYPE = torch.bfloat16
X = torch.randn(3000, 16)
Y = X[:, 0] - X[:, 1] + torch.sin(2 * X[:, 2]) + 0.5 * X[:, 3] * X[:, 4]
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).to(DTYPE)
X, Y = X.to(DTYPE), Y.to(DTYPE).unsqueeze(1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()
for epoch in range(24):
    tot = 0.0
    for idx in torch.randperm(2500).split(50):
        optimizer.zero_grad()
        loss = criterion(model(X[idx]), Y[idx])
        loss.backward()
        optimizer.step()
        tot += loss.item() / 50
    with torch.no_grad():
        v = criterion(model(X[2500:]), Y[2500:]).item()
    print(f"epoch {epoch + 1} loss {tot:.4f} val_loss {v:.4f}")
