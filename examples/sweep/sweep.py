"""Four learning rates, two seeds each: eight runs as JSON lines with their settings, in runs/."""

# mypy: ignore-errors

import json
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)


def rings(count):
    """Three classes, on three rings about the same centre."""
    labels = torch.randint(0, 3, (count,))
    angle, radius = 6.28 * torch.rand(count), 1 + labels + 0.25 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), labels


def train(lr, seed, folder):
    torch.manual_seed(seed)
    x, y = rings(2000)
    val_x, val_y = rings(1000)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    folder.mkdir(parents=True)
    settings = {"lr": lr, "seed": seed, "batch_size": 100, "momentum": 0.9, "optimizer": "sgd"}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with open(folder / "metrics.jsonl", "w", encoding="utf-8") as file:
        for epoch in range(30):
            for part in torch.randperm(len(x)).split(100):
                loss = nn.functional.cross_entropy(model(x[part]), y[part])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            with torch.no_grad():
                val_loss = nn.functional.cross_entropy(model(val_x), val_y)
            row = {"epoch": epoch, "loss": loss.item(), "val_loss": val_loss.item()}
            file.write(json.dumps(row) + "\n")


for lr in (0.001, 0.01, 0.1, 3.0):
    for seed in (0, 1):
        train(lr, seed, Path("runs") / f"lr{lr}-seed{seed}")
