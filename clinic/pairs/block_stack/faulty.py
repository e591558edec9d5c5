import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + torch.tanh(self.lin(self.norm(x)))


class Network(nn.Module):
    def __init__(self, inputs=6, width=24, depth=3):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = [Block(width) for _ in range(depth)]
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


def target(x):
    return (
        torch.sin(math.pi * x[:, 0]) * torch.cos(math.pi * x[:, 1]) + x[:, 2] * x[:, 3] - torch.abs(x[:, 4])
    )


def get_loaders(batch_size):
    x = torch.rand(4000, 6) * 2 - 1
    xv = torch.rand(800, 6) * 2 - 1
    train = DataLoader(TensorDataset(x, target(x)), batch_size=batch_size, shuffle=True)
    valid = DataLoader(TensorDataset(xv, target(xv)), batch_size=400)
    return train, valid


torch.manual_seed(42)
train, valid = get_loaders(64)
model = Network()
n_params = sum(p.numel() for p in model.parameters())
print("parameters:", n_params)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
loss_fn = nn.MSELoss()

for epoch in range(12):
    model.train()
    for x, y in train:
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = sum(loss_fn(model(x), y).item() for x, y in valid) / len(valid)
    print(f"epoch {epoch + 1} train loss {loss.item():.4f} val loss {val:.4f}")
