"""A loop of one's own that asks every ten epochs how it is doing."""

import torch
from torch import nn

import traindx

torch.manual_seed(14)
model = nn.Sequential(nn.Linear(6, 32), nn.Sigmoid(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)
traindx.watch(model, optimizer, out="recording")
x = torch.randn(600, 6)
y = x[:, :3].argmax(1)
for epoch in range(30):
    for i in range(0, 600, 30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i : i + 30]), y[i : i + 30])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        diagnosis = traindx.diagnose()
        print(f"epoch {epoch}: {diagnosis.verdict}", [one.symptom for one in diagnosis.problems])
