import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
rng = np.random.default_rng(4)

# vibration signals of machines in four states
N, T = 2400, 64
t = np.arange(T) / T
state = rng.integers(0, 4, N)
freq = np.array([3.0, 5.0, 8.0, 12.0])[state]
signal = np.sin(2 * np.pi * (freq[:, None] * t + rng.random((N, 1)))) + rng.normal(0, 0.7, (N, T))
X = torch.tensor(signal[:, None], dtype=torch.float32)
Y = torch.tensor(state)
X_train, Y_train, X_val, Y_val = X[:2000], Y[:2000], X[2000:], Y[2000:]


class Conv1dNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(1, 16, 7, stride=2, padding=3)
        self.c2 = nn.Conv1d(16, 32, 5, stride=2, padding=2)
        self.fc = nn.Linear(32, 4)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.mean(-1))


net = Conv1dNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.998)
for epoch in range(14):
    shuffled = torch.randperm(len(X_train))
    correct, total_loss = 0, 0.0
    for i in range(0, len(X_train), 50):
        b = shuffled[i : i + 50]
        optimizer.zero_grad()
        out = net(X_train[b])
        loss = F.cross_entropy(out, Y_train[b])
        loss.backward()
        optimizer.step()
        total_loss += loss.item() * len(b)
        correct += (out.argmax(1) == Y_train[b]).sum().item()
    with torch.no_grad():
        out = net(X_val)
        val_loss = F.cross_entropy(out, Y_val).item()
        val_acc = (out.argmax(1) == Y_val).float().mean().item()
    print(
        f"Epoch {epoch + 1:02d} train_loss={total_loss / 2000:.4f} train_acc={correct / 2000:.3f} val_loss={val_loss:.4f} val_acc={val_acc:.3f}"
    )
