import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

EPOCHS = 20
WINDOW = 24


def make_windows(hours=3000, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    load = (
        np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 168 + 1) + 0.3 * np.sin(2 * np.pi * t / 8)
    )
    load = load * (1 + 0.3 * np.sin(2 * np.pi * t / 500)) + rng.normal(0, 0.05, hours)
    x = np.lib.stride_tricks.sliding_window_view(load, WINDOW)[:-1]
    y = load[WINDOW:]
    return torch.tensor(x.copy(), dtype=torch.float32), torch.tensor(y, dtype=torch.float32)[:, None]


x, y = make_windows()
cut = int(0.8 * len(x))
train_dl = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=64, shuffle=True)
val_dl = DataLoader(TensorDataset(x[cut:], y[cut:]), batch_size=256)

model = nn.Sequential(nn.Linear(WINDOW, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.4)

for epoch in range(EPOCHS):
    model.train()
    train_loss = 0.0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        scheduler.step()
        train_loss += loss.item() / len(train_dl)
    model.eval()
    with torch.no_grad():
        val_loss = np.mean([criterion(model(a), b).item() for a, b in val_dl])
    print(
        f"epoch {epoch + 1}/{EPOCHS} train_loss {train_loss:.5f} val_loss {val_loss:.5f} lr {scheduler.get_last_lr()[0]:.2e}"
    )
