import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(4000, 6)
Y = X[:, :1] - 0.5 * X[:, 1:2] + 0.1 * torch.randn(4000, 1)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.005)
criterion = nn.MSELoss()
for epoch in range(3):
    total = 0.0
    for i in range(len(X)):
        optimizer.zero_grad()
        output = net(X[i:i + 1])
        loss = criterion(output, Y[i:i + 1])
        loss.backward()
        optimizer.step()
        total += loss.item()
        if i % 400 == 399:
            print(f"epoch {epoch} sample {i + 1} loss {total / (i + 1):.4f}")
