import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


def textures(n, seed):
    """Stripes of four directions under strong noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    yy, xx = np.mgrid[0:12, 0:12]
    angle = y * np.pi / 4
    phase = rng.uniform(0, 2 * np.pi, n)
    wave = np.sin(
        1.3 * (np.cos(angle)[:, None, None] * xx + np.sin(angle)[:, None, None] * yy) + phase[:, None, None]
    )
    x = 0.8 * wave + rng.normal(0, 1.4, (n, 12, 12))
    return TensorDataset(torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(y))


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.BatchNorm2d(12),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.25),
        nn.Linear(96, 4),
    )


def evaluate(model, loader, criterion):
    model.eval()
    loss, hits, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += criterion(out, y).item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            count += len(y)
    return loss / count, 100.0 * hits / count


def run(epochs=8):
    torch.manual_seed(21)
    model = build_model()
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    train_loader = DataLoader(textures(1600, 1), batch_size=32, shuffle=True)
    test_loader = DataLoader(textures(400, 2), batch_size=100)
    for epoch in range(epochs):
        model.train()
        for i, (x, y) in enumerate(train_loader):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        test_loss, test_acc = evaluate(model, test_loader, criterion)
        print(
            f"Epoch {epoch + 1}: loss {loss.item():.3f}, test loss {test_loss:.3f}, test acc {test_acc:.1f}%"
        )


run()
