import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, n_out)

    def forward(self, x):
        return self.head(self.features(x))


def task(n, centers, g):
    y = torch.randint(0, len(centers), (n,), generator=g)
    return TensorDataset(centers[y] + torch.randn(n, 16, generator=g), y)


def train(model, optimizer, loader, valid, epochs, tag):
    criterion = nn.CrossEntropyLoss()
    x_val, y_val = valid.tensors
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            out = model(x_val)
        acc = (out.argmax(1) == y_val).float().mean().item()
        print(
            f"{tag} epoch {epoch + 1} loss {total / len(loader):.4f} val_loss {criterion(out, y_val).item():.4f} val_acc {acc:.3f}"
        )


def main():
    torch.manual_seed(50)
    g = torch.Generator().manual_seed(50)
    new_task = torch.randn(6, 16, generator=g)
    model = Backbone(20)
    for p in model.features.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.head.parameters(), lr=5e-3)
    model.head = nn.Linear(64, 6)
    loader = DataLoader(task(1800, new_task, g), batch_size=45, shuffle=True)
    train(model, optimizer, loader, task(500, new_task, g), 8, "finetune")


main()
