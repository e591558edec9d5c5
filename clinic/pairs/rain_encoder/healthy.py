import numpy as np
import torch
from torch import nn

torch.manual_seed(26)
rng = np.random.default_rng(26)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 16, batch_first=True)

    def forward(self, x):
        _, (h, _) = self.lstm(x)
        return h[-1]


class RainModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.regressor = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        code = self.encoder(x)
        return self.regressor(code).squeeze(1)


def weather(n):
    x = rng.normal(size=(n, 14, 3)).astype("float32")
    y = x[:, -5:, 0].mean(1) * 2 + x[:, :, 1].max(1) - 1.7 + np.tanh(x[:, -1, 2])
    return torch.from_numpy(x), torch.from_numpy(y.astype("float32"))


x, y = weather(2400)
x_val, y_val = weather(500)
model = RainModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = nn.MSELoss()
for epoch in range(8):
    losses = []
    for idx in torch.randperm(2400).split(60):
        optimizer.zero_grad()
        loss = mse(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        val_loss = mse(model(x_val), y_val).item()
    print(f"epoch {epoch + 1}, train {np.mean(losses):.4f}, val_loss {val_loss:.4f}")
