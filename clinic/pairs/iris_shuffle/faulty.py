import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def load_flowers(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    species = np.repeat(np.arange(3), n // 3)
    means = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    x = means[species] + rng.normal(0, 0.35, (n, 4))
    return (x - x.mean(0)) / x.std(0), species


def prepare(x, y, seed=1):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    x = x[order]
    y = y[rng.permutation(len(y))]
    cut = int(0.8 * len(x))
    to_x = lambda a: torch.tensor(a, dtype=torch.float32)
    return to_x(x[:cut]), torch.tensor(y[:cut]), to_x(x[cut:]), torch.tensor(y[cut:])


torch.manual_seed(0)
X_train, y_train, X_val, y_val = prepare(*load_flowers())
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    for idx in torch.randperm(len(X_train)).split(40):
        loss = F.cross_entropy(model(X_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        train_out, val_out = model(X_train), model(X_val)
    print(
        f"epoch {epoch + 1}: loss {F.cross_entropy(train_out, y_train).item():.4f} acc {(train_out.argmax(1) == y_train).float().mean().item():.3f} "
        f"val_loss {F.cross_entropy(val_out, y_val).item():.4f} val_acc {(val_out.argmax(1) == y_val).float().mean().item():.3f}"
    )
