import torch
from torch import nn

torch.manual_seed(3)


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + 0.3 * torch.relu(self.fc(x))


class Tower(nn.Module):
    def __init__(self, inputs, width=32, depth=24):
        super().__init__()
        self.embed = nn.Linear(inputs, width)
        self.trunk = nn.Sequential(*[Layer(width) for _ in range(depth)])
        self.readout = nn.Linear(width, 1)

    def forward(self, x):
        return self.readout(self.trunk(torch.relu(self.embed(x)))).squeeze(-1)


def airfoil(n):
    x = torch.randn(n, 5)
    y = torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] - torch.tanh(x[:, 3] + x[:, 4]) + 0.05 * torch.randn(n)
    return x, y


x_train, y_train = airfoil(3000)
x_val, y_val = airfoil(600)
model = Tower(5)
opt = torch.optim.Adam(model.parameters(), lr=5e-4)
for epoch in range(7):
    perm = torch.randperm(len(x_train))
    mean_loss = 0.0
    for i in range(0, 3000, 60):
        b = perm[i : i + 60]
        loss = nn.functional.mse_loss(model(x_train[b]), y_train[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean_loss += loss.item() / 50
    with torch.no_grad():
        val_loss = nn.functional.mse_loss(model(x_val), y_val).item()
    print(f"{epoch + 1}: train loss {mean_loss:.4f}, val loss {val_loss:.4f}")
