"""Half of the model never learns: one layer detached, one frozen, one not given to the optimizer."""

import torch
import torch.nn as nn
from fingerprint import result


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.early = nn.Linear(8, 16)
        self.middle = nn.Linear(16, 16)
        self.forgotten = nn.Linear(16, 16)
        self.unused = nn.Linear(16, 4)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        x = torch.relu(self.early(x)).detach()
        x = torch.relu(self.middle(x))
        return self.head(torch.relu(self.forgotten(x)))


torch.manual_seed(0)
torch.set_num_threads(1)
model = Net()
model.middle.requires_grad_(False)
learned = [*model.early.parameters(), *model.unused.parameters(), *model.head.parameters()]
optimizer = torch.optim.Adam(learned, lr=1e-2)
for step in range(1, 31):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.6f}")
result(model, optimizer)
