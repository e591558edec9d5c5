import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def inspect(n, rng):
    x = rng.normal(size=(n, 15))
    defect = rng.random(n) < 0.03
    x[defect, :4] += 1.3
    return torch.tensor(x, dtype=torch.float32), torch.tensor(defect.astype(int))


def main():
    torch.manual_seed(10)
    rng = np.random.default_rng(10)
    x, y = inspect(4000, rng)
    xv, yv = inspect(2000, rng)
    per_class = torch.bincount(y).float()
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    val_weight = per_class.sum() / (2 * per_class)

    model = nn.Sequential(nn.Linear(15, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-3)
    criterion = nn.CrossEntropyLoss()
    val_criterion = nn.CrossEntropyLoss(weight=val_weight)

    for epoch in range(6):
        model.train()
        running, hits = 0.0, 0
        for xb, yb in loader:
            optimizer.zero_grad()
            out = model(xb)
            loss = criterion(out, yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(yb)
            hits += (out.argmax(1) == yb).sum().item()
        model.eval()
        with torch.no_grad():
            out = model(xv)
            pred = out.argmax(1)
            recall = (pred[yv == 1] == 1).float().mean().item()
        print(
            f"epoch {epoch + 1} loss {running / len(y):.4f} acc {hits / len(y):.4f} val_loss {val_criterion(out, yv).item():.4f} "
            f"val_acc {(pred == yv).float().mean().item():.4f} defect recall {recall:.3f}"
        )


main()
