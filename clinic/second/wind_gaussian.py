import torch
import torch.nn as nn

torch.manual_seed(5)


class WindModel(nn.Module):
    """Mean and spread of the wind an hour ahead."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mu = nn.Linear(64, 1)
        self.log_sigma = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mu(h).squeeze(1), self.log_sigma(h).squeeze(1)


def log_likelihood(mu, log_sigma, y):
    return (-0.5 * ((y - mu) / log_sigma.exp()) ** 2 - log_sigma).mean()


x = torch.randn(3000, 5)
y = torch.sin(x[:, 0]) + x[:, 1] * 0.5 + (0.1 + 0.2 * x[:, 2].abs()) * torch.randn(3000)
model = WindModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for idx in torch.randperm(2500).split(50):
        mu, log_sigma = model(x[idx])
        loss = log_likelihood(mu, log_sigma, y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        mu, ls = model(x[2500:])
        print(f"epoch {epoch} loss {loss.item():.4f} val_loss {log_likelihood(mu, ls, y[2500:]).item():.4f} val_mae {(mu - y[2500:]).abs().mean().item():.3f}")
