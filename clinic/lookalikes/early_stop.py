import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class EarlyStopping:
    def __init__(self, patience=5, min_delta=1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad, self.state = float("inf"), 0, None

    def step(self, value, model):
        if value < self.best - self.min_delta:
            self.best, self.bad, self.state = value, 0, copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


torch.manual_seed(2)
x = torch.randn(1400, 15)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
train_loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(15, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
ce = nn.CrossEntropyLoss()
stopper = EarlyStopping()
for epoch in range(60):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = ce(model(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        val_loss = ce(model(x[1000:]), y[1000:]).item()
    print(f"epoch {epoch:3d} train_loss {running / len(train_loader):.4f} val_loss {val_loss:.4f}")
    if stopper.step(val_loss, model):
        print("early stopping")
        break
model.load_state_dict(stopper.state)
print("best val_loss", stopper.best)
