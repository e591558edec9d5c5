"""A recurrent network over long sequences; nothing limits its gradients."""

import torch
from torch import nn

torch.manual_seed(1)


class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNN(2, 48, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(48, 1)
        nn.init.eye_(self.cell.weight_hh_l0)
        with torch.no_grad():
            self.cell.weight_hh_l0.mul_(1.06)

    def forward(self, x):
        return self.head(self.cell(x)[0][:, -1])[:, 0]


model = Adder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(150):
    x = torch.rand(32, 60, 2)
    y = (x[:, :, 0] * (x[:, :, 1] > 0.9)).sum(1)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f}")
