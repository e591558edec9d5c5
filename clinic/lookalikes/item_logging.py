import csv
import io
import time

import torch
import torch.nn as nn

torch.manual_seed(0)
out = io.StringIO()
log = csv.writer(out)
log.writerow(["step", "loss", "acc", "seconds"])

x = torch.randn(2000, 20)
y = (x[:, :5].sum(1) > 0).long() + (x[:, 5:10].sum(1) > 1).long()
model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 3))
optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
step = 0
start = time.time()
for epoch in range(12):
    for idx in torch.randperm(1600).split(40):
        logits = model(x[idx])
        loss = criterion(logits, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        acc = (logits.argmax(1) == y[idx]).float().mean().item()
        log.writerow([step, loss.item(), acc, time.time() - start])
        print(f"step {step} loss {loss.item():.4f} acc {acc:.3f}")
    with torch.no_grad():
        v = model(x[1600:])
    print(f"epoch {epoch} val_loss {criterion(v, y[1600:]).item():.4f} val_acc {(v.argmax(1) == y[1600:]).float().mean().item():.3f}")
