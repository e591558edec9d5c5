"""Mixed precision with a loss scale that overflows a few times."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(5)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=6)
loss_fn = nn.CrossEntropyLoss()
way = torch.randn(20, 3)

skipped = 0
for it in range(30):
    x = torch.randn(32, 20)
    if it in (4, 17):
        x = x * 3e4
    y = (x @ way).argmax(1)
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < before:
        skipped += 1
    print(f"it {it} loss {loss.item():.6f} norm {norm.item():.6f} scale {before:.0f} skipped {skipped}")

result(model, optimizer, scaler.state_dict())
