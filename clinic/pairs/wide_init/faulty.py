import numpy as np
import torch
import torch.nn as nn


class Regressor(nn.Module):
    def __init__(self, n_in, width, n_out):
        super().__init__()
        self.l1 = nn.Linear(n_in, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, width)
        self.l4 = nn.Linear(width, n_out)
        self.reset()

    def reset(self):
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=1.0)
            else:
                nn.init.zeros_(p)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        x = torch.relu(self.l3(x))
        return self.l4(x)


rng = np.random.default_rng(63)
torch.manual_seed(63)


def power_plant(n):
    x = rng.normal(size=(n, 4))
    y = np.c_[x[:, 0] + np.sin(x[:, 1]), x[:, 2] * x[:, 3]] + 0.1 * rng.normal(size=(n, 2))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


x, y = power_plant(2500)
xv, yv = power_plant(500)
model = Regressor(4, 100, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.MSELoss()
for epoch in range(8):
    epoch_loss = 0.0
    for idx in torch.randperm(2500).split(50):
        optimizer.zero_grad()
        loss = loss_fn(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() / 50
    with torch.no_grad():
        val_loss = loss_fn(model(xv), yv).item()
    print(f"epoch {epoch + 1}/8 - loss: {epoch_loss:.4f} - val_loss: {val_loss:.4f}")
