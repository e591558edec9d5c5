"""A script that you start yourself, with one line for traindx in it."""

# mypy: ignore-errors

import torch
from torch import nn

import traindx


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 2)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(2000, 20)
y = (x[:, :5].sum(1) > 0).long()
model = Net()
optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)  # the body was forgotten

traindx.watch(model, optimizer, out="recording")  # the one line

for _ in range(8):
    for part in torch.randperm(len(x)).split(50):
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

diagnosis = traindx.diagnose()
print(diagnosis.verdict)
for problem in diagnosis.problems:
    print(problem.symptom, problem.severity, problem.hypotheses[0].cause)
