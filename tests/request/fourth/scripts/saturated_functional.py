"""tanh called in forward on weights that are far too large."""

import torch
from torch import nn

torch.manual_seed(11)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 80)
        self.second = nn.Linear(80, 80)
        self.head = nn.Linear(80, 4)
        for layer in (self.first, self.second):
            nn.init.normal_(layer.weight, std=4.0)

    def forward(self, x):
        x = torch.tanh(self.first(x))
        x = torch.tanh(self.second(x))
        return self.head(x)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(1000, 12)
y = 2 * (x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] * x[:, 3] > 0).long()
for epoch in range(20):
    for i in range(0, 1000, 50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 50]), y[i : i + 50])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
