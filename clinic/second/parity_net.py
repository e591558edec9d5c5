import torch
import torch.nn as nn

torch.manual_seed(0)


def sigmoid_net(sizes):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers.append(nn.Linear(a, b))
        layers.append(nn.Sigmoid())
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


centres = torch.randn(6, 20)
y = torch.randint(0, 6, (3000,))
x = centres[y] + 0.7 * torch.randn(3000, 20)
net = sigmoid_net([20, 64, 64, 64, 64, 64, 64, 64, 6])
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    total = 0
    for idx in torch.randperm(2500).split(50):
        optimizer.zero_grad()
        loss = criterion(net(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        out = net(x[2500:])
    print(f"Epoch: {epoch + 1}, Loss: {total / 50:.4f}, Val loss: {criterion(out, y[2500:]):.4f}, Val acc: {(out.argmax(1) == y[2500:]).float().mean():.3f}")
