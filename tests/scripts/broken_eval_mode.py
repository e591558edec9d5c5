"""After the first validation the model stays in eval mode."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
model.train()
step = 0
for epoch in range(4):
    for _ in range(10):
        x = torch.randn(32, 8)
        loss = criterion(model(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    with torch.no_grad():
        x = torch.randn(64, 8)
        val_loss = criterion(model(x), (x[:, 0] > 0).long())
    print(f"epoch {epoch + 1} step {step} loss {loss.item():.6f} val_loss {val_loss.item():.6f}")
result(model, optimizer)
