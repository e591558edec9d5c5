"""Every tenth epoch the statistics of the gradients, inside a loop of one's own; later a NaN comes in."""

import torch
from torch import nn

import traindx

torch.manual_seed(6)
x = torch.randn(400, 9)
y = x[:, :1] * 2 - x[:, 3:4] + 0.1 * torch.randn(400, 1)
model = nn.Sequential(nn.Linear(9, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()
for epoch in range(40):
    if epoch == 35:
        x[7, 2] = float("nan")  # a sensor fails
    for i in range(0, 400, 40):
        optimizer.zero_grad()
        loss = criterion(model(x[i : i + 40]), y[i : i + 40])
        loss.backward()
        if epoch != 39:
            optimizer.step()
    if epoch % 10 == 9:
        table = traindx.gradients(model)
        print(f"epoch {epoch}: {len(table.problems)} problems")
        for row in table:
            print("  ", sorted(row), row["name"])
            size = dict(model.named_parameters())[row["name"]].grad
            if row["finite"]:
                assert abs(row["mean"] - float(size.mean())) < 1e-5
                assert abs(row["norm"] - float(size.norm())) < 1e-4
                assert row["max"] == float(size.max())
                assert row["min"] == float(size.min())
        print(table)
