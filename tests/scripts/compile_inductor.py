"""torch.compile as most people call it, with the real compiler behind it."""

import torch
import torch.nn as nn
from fingerprint import result
from torch._dynamo.utils import counters

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
way = torch.randn(8, 3)
for step in range(1, 41):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(compiled(x), (x @ way).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.6f}")

print("graphs", counters["stats"]["unique_graphs"], "captured", counters["stats"]["calls_captured"])
print("breaks", sum(counters["graph_break"].values()), "recompiles", sum(counters["recompiles"].values()))
result(model, optimizer)
