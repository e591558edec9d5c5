import numpy as np
import torch

HIDDEN = 2


def wave(x):
    return np.sin(3 * x[:, :1]) * np.cos(2 * x[:, 1:]) + 0.3 * np.sin(7 * x[:, 1:])


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x), size):
        pick = order[start : start + size]
        yield torch.from_numpy(x[pick]), torch.from_numpy(y[pick])


rng = np.random.default_rng(12)
torch.manual_seed(12)
x = rng.uniform(-2, 2, (4000, 2)).astype("float32")
y = (wave(x) + 0.05 * rng.normal(size=(4000, 1))).astype("float32")
xt = rng.uniform(-2, 2, (800, 2)).astype("float32")
yt = wave(xt).astype("float32")

net = torch.nn.Sequential(
    torch.nn.Linear(2, HIDDEN),
    torch.nn.Tanh(),
    torch.nn.Linear(HIDDEN, HIDDEN),
    torch.nn.Tanh(),
    torch.nn.Linear(HIDDEN, 1),
)
optimizer = torch.optim.Adam(net.parameters(), lr=8e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
loss_fn = torch.nn.MSELoss()
for epoch in range(20):
    seen = []
    for xb, yb in batches(x, y, 100, rng):
        optimizer.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    schedule.step()
    with torch.no_grad():
        val_loss = loss_fn(net(torch.from_numpy(xt)), torch.from_numpy(yt)).item()
    print(f"epoch {epoch + 1:2d} train_loss {np.mean(seen):.4f} val_loss {val_loss:.4f}")
