import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--wd", type=float, default=3.0)
    p.add_argument("--epochs", type=int, default=8)
    return p.parse_args()


class FruitNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.c1 = nn.Conv2d(3, 12, 3, padding=1)
        self.c2 = nn.Conv2d(12, 24, 3, padding=1)
        self.fc = nn.Linear(24 * 9, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(x.flatten(1))


def fruit(n, g):
    y = torch.randint(0, 4, (n,), generator=g)
    hue = torch.tensor([[1.0, 0.1, 0.1], [0.9, 0.8, 0.1], [0.1, 0.9, 0.2], [0.6, 0.2, 0.7]])
    x = hue[y][:, :, None, None] * torch.rand(n, 1, 12, 12, generator=g) + 0.35 * torch.randn(n, 3, 12, 12, generator=g)
    return (x - 0.3) / 0.45, y


def main():
    args = get_args()
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    x, y = fruit(1500, g)
    xv, yv = fruit(400, g)
    model = FruitNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.wd)
    for epoch in range(args.epochs):
        model.train()
        for b in torch.randperm(1500).split(50):
            loss = F.cross_entropy(model(x[b]), y[b])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            out = model(xv)
        print(f"epoch {epoch}: loss {loss.item():.4f} val_loss {F.cross_entropy(out, yv).item():.4f} val_acc {(out.argmax(1) == yv).float().mean():.3f}")


if __name__ == "__main__":
    main()
