"""The optimizer's step compiled by itself, the model left alone."""

import torch
import torch.nn as nn
from fingerprint import result
from torch._dynamo.utils import counters

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-2))
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)


@torch.compile(fullgraph=False, backend="eager")
def opt_step():
    optimizer.step()


for step in range(1, 16):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    opt_step()
    scheduler.step()
    print(f"step {step} loss {loss.item():.6f} lr {optimizer.param_groups[0]['lr'].item():.6g}")

print("graphs", counters["stats"]["unique_graphs"], "captured", counters["stats"]["calls_captured"])
print("breaks", sum(counters["graph_break"].values()), "recompiles", sum(counters["recompiles"].values()))
result(model, optimizer)
