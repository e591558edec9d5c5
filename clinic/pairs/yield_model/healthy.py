import numpy as np
import torch


class YieldModel(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = torch.nn.Linear(features, 40)
        self.out = torch.nn.Linear(40, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


def make(n, rng):
    x = rng.normal(size=(n, 5))
    y = x[:, 0] ** 2 - x[:, 1] + np.sin(x[:, 2]) + 0.1 * rng.normal(size=n)
    return torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y - 1, dtype=torch.float32)


def step_loss(model, x, y):
    residual = model(x).flatten() - y
    return (residual**2).mean()


def batches(x, y, size):
    for i in torch.randperm(len(x)).split(size):
        yield x[i], y[i]


rng = np.random.default_rng(41)
torch.manual_seed(41)
x, y = make(2500, rng)
xv, yv = make(500, rng)
model = YieldModel(5)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    for xb, yb in batches(x, y, 50):
        optimizer.zero_grad()
        loss = step_loss(model, xb, yb)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = step_loss(model, xv, yv).item()
    print(f"epoch={epoch + 1} loss={loss.item():.4f} val_loss={val:.4f}")
