import torch
import torch.nn as nn

torch.manual_seed(0)


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        return torch.softmax(self.net(x), dim=-1)


def cross_entropy(prob, onehot):
    return -(onehot * torch.log(prob)).sum(1).mean()


x = torch.randn(2400, 10) * 3
route = torch.stack([x[:, 0] * 2, x[:, 1] * 2, -x[:, 0], -x[:, 1] - x[:, 2]], 1).argmax(1)
onehot = nn.functional.one_hot(route, 4).float()
gate = Gate()
optimizer = torch.optim.SGD(gate.parameters(), lr=0.4, momentum=0.9)
for epoch in range(30):
    for idx in torch.randperm(2000).split(25):
        loss = cross_entropy(gate(x[idx]), onehot[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = cross_entropy(gate(x[2000:]), onehot[2000:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val.item():.4f}")
