"""Early stopping, ReduceLROnPlateau, and the best weights put back at the end."""

import copy

import torch
import torch.nn as nn
from fingerprint import result
from torch.optim.lr_scheduler import ReduceLROnPlateau


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0
        self.weights = None

    def __call__(self, loss, model):
        if loss < self.best:
            self.best, self.bad = loss, 0
            self.weights = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


torch.manual_seed(0)
torch.set_num_threads(1)
x, x_val = torch.randn(48, 20), torch.randn(48, 20)
y, y_val = x[:, :1] + torch.randn(48, 1), x_val[:, :1] + torch.randn(48, 1)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
scheduler = ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
criterion = nn.MSELoss()
stop = EarlyStopping(patience=6)
for epoch in range(1, 101):
    model.train()
    for part in range(0, 48, 16):
        optimizer.zero_grad()
        loss = criterion(model(x[part : part + 16]), y[part : part + 16])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(x_val), y_val).item()
    lr = optimizer.param_groups[0]["lr"]
    scheduler.step(val_loss)
    print(f"epoch {epoch}: loss={loss.item():.6f} val_loss={val_loss:.6f} lr={lr:.8f}")
    if stop(val_loss, model):
        print(f"stopped early after {epoch} epochs, best {stop.best:.6f}")
        break
model.load_state_dict(stop.weights)
result(model, optimizer)
