"""The whole training step in one compiled function."""

import torch
import torch.nn as nn
from fingerprint import result
from torch._dynamo.utils import counters

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-2))


@torch.compile(backend="eager")
def train_step(x, y):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


for step in range(1, 21):
    x = torch.randn(32, 8)
    loss = train_step(x, x.sum(1, keepdim=True))
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.6f}")

print("graphs", counters["stats"]["unique_graphs"], "captured", counters["stats"]["calls_captured"])
print("breaks", sum(counters["graph_break"].values()), "recompiles", sum(counters["recompiles"].values()))
result(model, optimizer)
