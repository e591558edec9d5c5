# cause: wrong_mode
import torch
import torch.nn as nn


def score(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).float().mean().item() for x, y in loader) / len(loader)


def learn(net, loader, held_out, epochs=5):
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    net.train()  # here
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            opt.step()
        print(epoch, score(net, held_out))


batches = [(torch.randn(16, 8), torch.randint(0, 3, (16,))) for _ in range(10)]
learn(nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3)), batches, batches)
