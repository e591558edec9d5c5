"""Fit the calibration curve of a sensor; the noise of the meter is about 0.1."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

np.random.seed(3)
torch.manual_seed(3)

x = np.random.uniform(-1, 1, (2000, 2)).astype(np.float32)
y = (0.8 * x[:, :1] - 0.3 * x[:, 1:] ** 2 + 0.1 * np.random.randn(2000, 1)).astype(np.float32)
x, y = torch.from_numpy(x), torch.from_numpy(y)
x_train, y_train, x_val, y_val = x[:1600], y[:1600], x[1600:], y[1600:]

net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = optim.Adam(net.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(60):
    perm = torch.randperm(1600)
    running = 0.0
    for start in range(0, 1600, 64):
        idx = perm[start:start + 64]
        optimizer.zero_grad()
        loss = criterion(net(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        val = criterion(net(x_val), y_val).item()
    net.train()
    print(f"Epoch {epoch + 1}/60 - loss: {running / 1600:.5f} - val_loss: {val:.5f}")
