import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)


def spiral(n):
    t = np.sqrt(rng.random(n)) * 2.2 * np.pi
    arm = rng.integers(0, 2, n)
    sign = np.where(arm == 0, 1.0, -1.0)
    x = np.stack([sign * t * np.cos(t), sign * t * np.sin(t)], 1) / 5.0
    x += rng.normal(0, 0.03, x.shape)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(arm)


train_set = TensorDataset(*spiral(2048))
x_val, y_val = spiral(512)
loader = DataLoader(train_set, batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for epoch in range(40):
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    with torch.no_grad():
        logits = model(x_val)
        val_loss = criterion(logits, y_val).item()
        acc = (logits.argmax(1) == y_val).float().mean().item()
    print(
        f"epoch {epoch + 1:2d}  loss {running / len(loader):.4f}  val_loss {val_loss:.4f}  val_acc {acc:.3f}"
    )
