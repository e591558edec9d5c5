"""A bias far below zero: every unit of the first layer is dead from the start; inputs not scaled."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential()
model.add_module("fc1", nn.Linear(8, 32))
model.add_module("relu1", nn.ReLU())
model.add_module("fc2", nn.Linear(32, 32))
model.add_module("sigmoid", nn.Sigmoid())
model.add_module("fc3", nn.Linear(32, 1))
nn.init.constant_(model.fc1.bias, -1e5)
nn.init.constant_(model.fc2.bias, 50.0)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 41):
    x = 255 * torch.rand(32, 8)
    loss = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.6f}")
result(model, optimizer)
