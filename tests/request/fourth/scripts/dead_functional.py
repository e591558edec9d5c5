"""ReLU called in forward behind a bias far below zero."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 64)
        self.second = nn.Linear(64, 64)
        self.head = nn.Linear(64, 3)
        nn.init.constant_(self.second.bias, -6.0)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.relu(self.second(x))
        return self.head(x)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(900, 8)
y = x[:, :3].argmax(1)
for epoch in range(20):
    for i in range(0, 900, 45):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[i : i + 45]), y[i : i + 45])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
