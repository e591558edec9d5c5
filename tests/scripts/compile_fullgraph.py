"""fullgraph=True through AOT autograd: one graph or an error."""

import torch
import torch.nn as nn
from fingerprint import result
from torch._dynamo.utils import counters

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Dropout(0.1))
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.body(x))


model = Net()
model.compile(fullgraph=True, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
way = torch.randn(8, 3)
for step in range(1, 26):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x @ way).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.get_total_norm([p.grad for p in model.parameters()])
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.6f} norm {norm.item():.6f}")

print("graphs", counters["stats"]["unique_graphs"], "captured", counters["stats"]["calls_captured"])
print("breaks", sum(counters["graph_break"].values()), "aot", counters["aot_autograd"]["ok"])
result(model, optimizer)
