import torch
import torch.nn.functional as F

torch.manual_seed(1)
x = torch.randn(2000, 8)
y = 40 + 6 * torch.sin(x[:, 0] * 2) * x[:, 1] + 4 * x[:, 2].clamp(min=0)
w1 = torch.nn.Parameter(torch.randn(8, 64) * (2 / 8) ** 0.5)
b1 = torch.nn.Parameter(torch.zeros(64))
w2 = torch.nn.Parameter(torch.randn(64, 64) * (2 / 64) ** 0.5)
b2 = torch.nn.Parameter(torch.zeros(64))
w3 = torch.nn.Parameter(torch.randn(64, 1) * (2 / 64) ** 0.5)
b3 = torch.nn.Parameter(torch.zeros(1))


def forward(inp):
    h = F.relu(inp @ w1 + b1)
    h = F.relu(h @ w2 + b2)
    return (h @ w3 + b3).squeeze(1)


optimizer = torch.optim.SGD([w1, b1, w2, b2, w3, b3], lr=0.03)
for epoch in range(12):
    for b in torch.randperm(1600).split(40):
        loss = F.mse_loss(forward(x[b]), y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(f"epoch {epoch}: loss {loss.item():.3f} val_loss {F.mse_loss(forward(x[1600:]), y[1600:]).item():.3f}")
