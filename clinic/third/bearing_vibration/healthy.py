import argparse
import csv
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Vibration(Dataset):
    """One-channel windows of 128 samples, 5 bearing states."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(128) / 128
        self.y = rng.integers(0, 5, n)
        self.x = np.zeros((n, 1, 128), dtype=np.float32)
        for i, k in enumerate(self.y):
            base = np.sin(2 * np.pi * (6 * t + rng.random())) * rng.uniform(0.7, 1.3)
            if k == 1:
                base += 0.8 * np.sin(2 * np.pi * (18 * t + rng.random()))
            elif k == 2:
                base += 0.8 * np.sin(2 * np.pi * (30 * t + rng.random()))
            elif k == 3:
                for c in rng.integers(5, 120, 4):
                    base[c:c + 3] += 2.0
            elif k == 4:
                base *= 1 + 0.8 * np.sin(2 * np.pi * (2 * t + rng.random()))
            self.x[i, 0] = base + 0.75 * rng.normal(size=128)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])


class Features(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c1 = nn.Conv1d(1, width, 9, padding=4)
        self.c2 = nn.Conv1d(width, 2 * width, 5, stride=2, padding=2)
        self.c3 = nn.Conv1d(2 * width, 2 * width, 5, stride=2, padding=2)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.c1(x)), 2)
        x = F.relu(self.c2(x))
        return F.relu(self.c3(x)).flatten(2)


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.fc = nn.Linear(4 * width, classes)

    def forward(self, f):
        return self.fc(torch.cat([f.mean(2), f.amax(2)], 1))


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--head-lr", type=float, default=0.04)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--max-grad-norm", type=float, default=1.0)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--width", type=int, default=12)
    p.add_argument("--seed", type=int, default=8)
    return p.parse_args()


def evaluate(feat, head, loader):
    feat.eval(), head.eval()
    loss = correct = n = 0
    with torch.no_grad():
        for x, y in loader:
            o = head(feat(x))
            loss += F.cross_entropy(o, y, reduction="sum").item()
            correct += (o.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, correct / n


def main():
    a = parse()
    torch.manual_seed(a.seed)
    train_loader = DataLoader(Vibration(4000, a.seed), batch_size=a.batch, shuffle=True)
    val_loader = DataLoader(Vibration(1000, a.seed + 1), batch_size=250)
    feat, head = Features(a.width), Head(a.width, 5)
    params = list(feat.parameters()) + list(head.parameters())
    opt = torch.optim.SGD([
        {"params": feat.parameters(), "lr": a.lr, "weight_decay": 1e-4},
        {"params": head.parameters(), "lr": a.head_lr, "weight_decay": 0.0},
    ], momentum=a.momentum)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=4, gamma=0.5)
    out = csv.writer(sys.stdout)
    out.writerow(["epoch", "train_loss", "val_loss", "val_acc"])
    for epoch in range(1, a.epochs + 1):
        feat.train(), head.train()
        s = 0.0
        for x, y in train_loader:
            loss = F.cross_entropy(head(feat(x)), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params, a.max_grad_norm)
            opt.step()
            s += loss.item()
        sched.step()
        vl, va = evaluate(feat, head, val_loader)
        out.writerow([epoch, f"{s / len(train_loader):.4f}", f"{vl:.4f}", f"{va:.4f}"])


if __name__ == "__main__":
    main()
