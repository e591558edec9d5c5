"""Dies in the middle of the training, with an exception chained to another."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_step(x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for step in range(1, 21):
    x = torch.randn(8, 4 if step < 13 else 5)
    try:
        loss = train_step(x, torch.zeros(8, dtype=torch.long))
    except RuntimeError as error:
        result(model, optimizer)
        raise ValueError(f"bad batch at step {step}") from error
    print(f"step {step} loss {loss:.6f}")
