"""A loop of one's own that asks every ten epochs."""

import torch
from torch import nn

import traindx

torch.manual_seed(0)
x = torch.randn(600, 16)
y = (x[:, :4]).argmax(1)
layers = []
for i in range(12):
    layers += [nn.Linear(16, 16), nn.Sigmoid()]
model = nn.Sequential(*layers, nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
traindx.watch(model, optimizer)
for epoch in range(30):
    for i in range(0, 600, 50):
        loss = nn.functional.cross_entropy(model(x[i : i + 50]), y[i : i + 50])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        diagnosis = traindx.diagnose()
        print(epoch, loss.item(), diagnosis.verdict, [problem.symptom for problem in diagnosis.problems])
