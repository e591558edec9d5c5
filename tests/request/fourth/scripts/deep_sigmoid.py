"""Ten layers, each followed by a sigmoid that is called in forward."""

import torch
from torch import nn

torch.manual_seed(4)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(20 if i == 0 else 32, 32) for i in range(10)])
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return self.head(x)


model = Deep()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(600, 20)
y = x[:, :3].argmax(1)
for epoch in range(20):
    for i in range(0, 600, 60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 60]), y[i : i + 60])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
