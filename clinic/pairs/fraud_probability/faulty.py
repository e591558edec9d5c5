import torch
import torch.nn as nn

torch.manual_seed(8)


def transactions(n):
    x = torch.randn(n, 10)
    score = 2.5 * x[:, 0] + 2 * x[:, 1] * x[:, 2] - 1.5 * x[:, 3]
    return x, (score > 0).float()


class FraudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return torch.sigmoid(self.net(x)).squeeze(-1)


def bce(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


x, y = transactions(6000)
xv, yv = transactions(800)
model = FraudNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4)
for epoch in range(8):
    losses = []
    for idx in torch.randperm(6000).split(150):
        p = model(x[idx])
        loss = bce(p, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        p = model(xv)
        val_loss = bce(p, yv).item()
        acc = ((p > 0.5) == (yv > 0.5)).float().mean().item()
    print(
        f"epoch {epoch + 1}: loss={sum(losses) / len(losses):.4f} val_loss={val_loss:.4f} val_acc={acc:.3f}"
    )
