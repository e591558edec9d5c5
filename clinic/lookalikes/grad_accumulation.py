import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--accum", type=int, default=8)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)

x = torch.randn(6144, 24)
y = (x[:, 0] * x[:, 1] + x[:, 3] - x[:, 4] > 0).long()
loader = DataLoader(TensorDataset(x[:5120], y[:5120]), batch_size=args.batch_size, shuffle=True)
model = nn.Sequential(nn.Linear(24, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
criterion = nn.CrossEntropyLoss()
for epoch in range(args.epochs):
    model.train()
    optimizer.zero_grad()
    running = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = criterion(model(xb), yb) / args.accum
        loss.backward()
        running += loss.item() * args.accum
        if (i + 1) % args.accum == 0:
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        out = model(x[5120:])
        val = criterion(out, y[5120:]).item()
        acc = (out.argmax(1) == y[5120:]).float().mean().item()
    print(f"epoch {epoch + 1} train_loss {running / len(loader):.4f} val_loss {val:.4f} val_acc {acc:.3f}")
