import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM_STEPS = 8


def stains(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    x = 0.7 * torch.randn(n, 1, 10, 10, generator=g)
    for i, k in enumerate(y.tolist()):
        r, c = torch.randint(0, 6, (2,), generator=g).tolist()
        x[i, 0, r : r + 2 + k, c : c + 4 - k] += 1.6
    return TensorDataset(x, y)


def accuracy(model, loader):
    hits = total = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    return hits / total


def main():
    torch.manual_seed(30)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3),
        nn.ReLU(),
        nn.AdaptiveMaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 3),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    train_loader = DataLoader(stains(2400, 0), batch_size=8, shuffle=True)
    val_loader = DataLoader(stains(400, 1), batch_size=200)
    for epoch in range(5):
        model.train()
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            loss = criterion(model(x), y)
            running += loss.item()
            loss.backward()
            if (i + 1) % ACCUM_STEPS == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            val_loss = sum(criterion(model(x), y).item() for x, y in val_loader) / len(val_loader)
            acc = accuracy(model, val_loader)
        print(
            f"epoch {epoch + 1}: train loss {running / len(train_loader):.4f}, val loss {val_loss:.4f}, val acc {acc:.3f}"
        )


if __name__ == "__main__":
    main()
