"""Train a classifier on two spirals."""

import argparse

import torch
from fingerprint import result
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--out", default="model.pt", help="where to put the weights")
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args()


def spirals(n):
    label = torch.arange(n) % 2
    angle = torch.rand(n) * 6
    radius = angle / 6 + 0.1
    turn = angle + label * torch.pi
    points = torch.stack([radius * torch.cos(turn), radius * torch.sin(turn)], dim=1)
    return TensorDataset(points + 0.02 * torch.randn(n, 2), label)


def train(model, loader, criterion, optimizer):
    model.train()
    total, correct, seen = 0.0, 0, 0
    for inputs, targets in loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(targets)
        correct += (outputs.argmax(1) == targets).sum().item()
        seen += len(targets)
    return total / seen, correct / seen


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total, correct, seen = 0.0, 0, 0
    for inputs, targets in loader:
        outputs = model(inputs)
        total += criterion(outputs, targets).item() * len(targets)
        correct += (outputs.argmax(1) == targets).sum().item()
        seen += len(targets)
    return total / seen, correct / seen


def main():
    args = parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(42)
    if not args.quiet:
        print(args)
    train_set, val_set = random_split(spirals(640), [512, 128])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=64)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        train_loss, train_acc = train(model, train_loader, criterion, optimizer)
        val_loss, val_acc = evaluate(model, val_loader, criterion)
        print(
            f"Epoch {epoch}/{args.epochs} | train loss {train_loss:.6f} | train acc {train_acc:.4f}"
            f" | val loss {val_loss:.6f} | val acc {val_acc:.4f}"
        )
    torch.save(model.state_dict(), args.out)
    result(model, optimizer)


if __name__ == "__main__":
    main()
