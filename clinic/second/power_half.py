import torch
import torch.nn as nn

torch.manual_seed(0)


class PowerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


load = torch.rand(2000, 4) * 2 - 1
watts = 300 * (load[:, :1] ** 2 + load[:, 1:2]) + 60 * load[:, 2:3]
model = PowerNet().half()
load, watts = load.half(), watts.half()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.9)
for epoch in range(8):
    for idx in torch.randperm(1600).split(40):
        out = model(load[idx])
        loss = ((out - watts[idx]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        err = (model(load[1600:]) - watts[1600:]).abs().float().mean()
    print(f"epoch {epoch} loss {loss.item():.2f} val_mae {err.item():.2f}")
