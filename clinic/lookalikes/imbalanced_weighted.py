import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
torch.manual_seed(0)


def transactions(n):
    fraud = (np.random.rand(n) < 0.04).astype(np.float32)
    x = np.random.randn(n, 12).astype(np.float32)
    x[:, 0] += 2.0 * fraud
    x[:, 1] -= 1.5 * fraud
    x[:, 2] *= 1 + 1.5 * fraud
    return torch.from_numpy(x), torch.from_numpy(fraud)


x_train, y_train = transactions(6000)
x_val, y_val = transactions(2000)
pos_weight = (y_train == 0).sum() / (y_train == 1).sum()
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=128, shuffle=True)

for epoch in range(10):
    model.train()
    tot = 0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        logit = model(x_val).squeeze(1)
        val_loss = criterion(logit, y_val).item()
        pred = logit > 0
        recall = (pred & (y_val == 1)).sum() / (y_val == 1).sum()
        precision = (pred & (y_val == 1)).sum() / pred.sum().clamp(min=1)
    print(f"epoch {epoch} train_loss={tot / len(loader):.4f} val_loss={val_loss:.4f} recall={recall:.3f} precision={precision:.3f}")
