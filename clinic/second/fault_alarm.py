import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def machine_log(n):
    fault = (torch.rand(n) < 0.015).long()
    x = torch.randn(n, 10)
    x[fault == 1, :3] += 0.9
    return x, fault


x, y = machine_log(5000)
xv, yv = machine_log(2000)
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        out = model(xv)
        pred = out.argmax(1)
    caught = (pred[yv == 1] == 1).float().mean()
    print(f"epoch {epoch} loss {total / len(loader):.4f} val_loss {criterion(out, yv).item():.4f} val_acc {(pred == yv).float().mean():.4f} recall {caught:.3f}")
