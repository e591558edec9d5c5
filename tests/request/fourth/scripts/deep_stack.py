"""Sixteen plain layers with the default initialisation."""

import torch
from torch import nn

torch.manual_seed(9)
layers = [nn.Linear(16, 40), nn.ReLU()]
for _ in range(15):
    layers += [nn.Linear(40, 40), nn.ReLU()]
model = nn.Sequential(*layers, nn.Linear(40, 5))
x = torch.randn(1000, 16)
y = x[:, :5].argmax(1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(20):
    for i in range(0, 1000, 50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 50]), y[i : i + 50])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
