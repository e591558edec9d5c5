"""Shapes labelled by a crowd."""
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(5)
torch.manual_seed(5)
N, K, D = 1500, 6, 30
centres = rng.normal(size=(K, D)) * 1.2
truth = rng.integers(0, K, N + 600)
X = centres[truth] + rng.normal(size=(N + 600, D))
votes = truth.copy()
careless = rng.random(N + 600) < 0.45
votes[careless] = rng.integers(0, K, careless.sum())
X = torch.tensor(X, dtype=torch.float32)
votes = torch.tensor(votes)
train_x, train_y, val_x, val_y = X[:N], votes[:N], X[N:], votes[N:]

net = nn.Sequential(nn.Linear(D, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, K))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(25):
    net.train()
    correct = total = 0.0
    for b in torch.randperm(N).split(50):
        out = net(train_x[b])
        loss = ce(out, train_y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(b)
        correct += (out.argmax(1) == train_y[b]).sum().item()
    net.eval()
    with torch.no_grad():
        out = net(val_x)
    print(f"epoch {epoch + 1:2d}: train_loss {total / N:.4f} train_acc {correct / N:.3f} val_loss {ce(out, val_y).item():.4f} val_acc {(out.argmax(1) == val_y).float().mean():.3f}")
