"""torch.compile of the model, with a graph break of the user's own; says what dynamo did."""

import torch
import torch._dynamo
import torch.nn as nn
from fingerprint import result
from torch._dynamo.utils import counters

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 32)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        h = self.act(self.fc1(x))
        torch._dynamo.graph_break()
        return self.fc2(h)


model = Net()
compiled = torch.compile(model, backend="eager")
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
way = torch.randn(8, 3)
for step in range(1, 31):
    compiled.train()
    x = torch.randn(32, 8)
    loss = criterion(compiled(x), (x @ way).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        compiled.eval()
        with torch.no_grad():
            x = torch.randn(32, 8)
            val_loss = criterion(compiled(x), (x @ way).argmax(1))
        print(f"step {step} loss {loss.item():.6f} val_loss {val_loss.item():.6f}")

print("graphs", counters["stats"]["unique_graphs"], "captured", counters["stats"]["calls_captured"])
print("breaks", sum(counters["graph_break"].values()), "recompiles", sum(counters["recompiles"].values()))
result(model, optimizer)
