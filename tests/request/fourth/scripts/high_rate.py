"""A classifier whose learning rate is far too high."""

import torch
from torch import nn

torch.manual_seed(5)
x = torch.randn(1200, 12)
y = (x[:, 0] * x[:, 1] > 0).long() + 2 * (x[:, 2] + x[:, 3] > 0).long()
train_x, train_y, val_x, val_y = x[:1000], y[:1000], x[1000:], y[1000:]
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
criterion = nn.CrossEntropyLoss()

for epoch in range(15):
    model.train()
    order = torch.randperm(1000)
    total = 0.0
    for i in range(0, 1000, 50):
        batch = order[i : i + 50]
        optimizer.zero_grad()
        loss = criterion(model(train_x[batch]), train_y[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() / 20
    model.eval()
    with torch.no_grad():
        output = model(val_x)
        val_loss = criterion(output, val_y).item()
        accuracy = (output.argmax(1) == val_y).float().mean().item()
    print(f"epoch {epoch} loss {total:.4f} val_loss {val_loss:.4f} val_accuracy {accuracy:.4f}")
