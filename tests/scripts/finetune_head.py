"""A frozen backbone and a new head; later the last block is thawed and joins the optimizer."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)

backbone = nn.Sequential(
    nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU()
)
for param in backbone.parameters():
    param.requires_grad = False
backbone.eval()
head = nn.Linear(16, 3)
model = nn.Sequential(backbone, head)
optimizer = torch.optim.SGD(head.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
way = torch.randn(12, 3)

for step in range(1, 41):
    if step == 21:
        for param in backbone[3].parameters():
            param.requires_grad = True
        optimizer.add_param_group({"params": backbone[3].parameters(), "lr": 0.005})
        print("thawed the last block")
    x = torch.randn(32, 12)
    loss = criterion(model(x), (x @ way).argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.6f} lrs {[g['lr'] for g in optimizer.param_groups]}")
result(model, optimizer)
