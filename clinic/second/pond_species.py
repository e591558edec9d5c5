import numpy as np
import torch
import torch.nn as nn


def load(n=2400, seed=0):
    r = np.random.RandomState(seed)
    means = r.randn(8, 16) * 1.5
    species = r.randint(0, 8, n)
    readings = means[species] + r.randn(n, 16)
    return readings.astype("float32"), species


def shuffle(readings, species, seed=1):
    r = np.random.RandomState(seed)
    readings = readings[r.permutation(len(readings))]
    species = species[r.permutation(len(species))]
    return readings, species


def batches(x, y, size):
    for i in range(0, len(x), size):
        yield torch.from_numpy(x[i:i + size]), torch.from_numpy(y[i:i + size])


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = shuffle(*load())
    y = y.astype("int64")
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(10):
        for xb, yb in batches(x[:2000], y[:2000], 50):
            optimizer.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            out = model(torch.from_numpy(x[2000:]))
            target = torch.from_numpy(y[2000:])
        print(f"epoch {epoch} | loss {loss.item():.4f} | val_loss {loss_fn(out, target).item():.4f} | val_acc {(out.argmax(1) == target).float().mean():.3f}")
