"""Every third label is wrong."""

import torch
from torch import nn

torch.manual_seed(8)
x = torch.randn(1500, 10)
y = x[:, :4].argmax(1)
wrong = torch.rand(1200) < 0.33
y[:1200][wrong] = torch.randint(0, 4, (int(wrong.sum()),))
model = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(25):
    order = torch.randperm(1200)
    for i in range(0, 1200, 60):
        batch = order[i : i + 60]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        output = model(x[1200:])
        val_loss = nn.functional.cross_entropy(output, y[1200:]).item()
        accuracy = (output.argmax(1) == y[1200:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val_loss:.4f} val_acc {accuracy:.3f}")
