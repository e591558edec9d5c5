import time

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(6, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(600):
    x = torch.randn(16, 6)
    if step == 40:
        x[3, 2] = float("nan")
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step={step} loss={loss.item():.4f}", flush=True)
    time.sleep(0.01)
print("all 600 steps done")
