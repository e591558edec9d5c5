"""A network that learns to tell spirals apart; one line of its loop is missing."""

# mypy: ignore-errors

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def spirals(count):
    """Two arms that wind about each other."""
    labels = torch.randint(0, 2, (count,))
    turn = 6 * torch.rand(count).sqrt()
    angle = turn + 3.14 * labels
    points = torch.stack([turn * angle.cos(), turn * angle.sin()], 1) / 3
    return points + 0.03 * torch.randn(count, 2), labels


x, y = spirals(2000)
val_x, val_y = spirals(500)
model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(12):
    for part in torch.randperm(len(x)).split(50):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        logits = model(val_x)
    val_loss = nn.functional.cross_entropy(logits, val_y)
    hits = (logits.argmax(1) == val_y).float().mean()
    print(f"epoch {epoch:2d}  loss {loss.item():.4f}  val loss {val_loss.item():.4f}  val acc {hits:.3f}")
