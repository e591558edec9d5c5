import torch
import torch.nn as nn


class Deep(nn.Module):
    def __init__(self, depth=20, width=24):
        super().__init__()
        self.inp = nn.Linear(12, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 5)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.out(x)


torch.manual_seed(0)
x = torch.randn(1000, 12)
y = (x[:, :5] + 0.3 * torch.randn(1000, 5)).argmax(1)
model = Deep()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(12):
    for i in range(0, 1000, 50):
        loss = nn.functional.cross_entropy(model(x[i : i + 50]), y[i : i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
