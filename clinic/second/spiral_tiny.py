import numpy as np
import torch

np.random.seed(0)
torch.manual_seed(0)
N, K = 400, 5
X = np.zeros((N * K, 2), dtype=np.float32)
y = np.zeros(N * K, dtype=np.int64)
for j in range(K):
    r = np.linspace(0.1, 1, N)
    t = np.linspace(j * 1.25, j * 1.25 + 3, N) + np.random.randn(N) * 0.1
    X[j * N:(j + 1) * N] = np.c_[r * np.sin(t), r * np.cos(t)] * 2
    y[j * N:(j + 1) * N] = j
perm = np.random.permutation(N * K)
X, y = torch.from_numpy(X[perm]), torch.from_numpy(y[perm])
Xtr, ytr, Xva, yva = X[:1600], y[:1600], X[1600:], y[1600:]

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, K))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
lossf = torch.nn.CrossEntropyLoss()
for epoch in range(40):
    for b in torch.randperm(1600).split(64):
        opt.zero_grad()
        loss = lossf(model(Xtr[b]), ytr[b])
        loss.backward()
        opt.step()
    if epoch % 2 == 1:
        with torch.no_grad():
            o, ov = model(Xtr), model(Xva)
        print(f"epoch {epoch + 1}: train loss {lossf(o, ytr).item():.3f} acc {(o.argmax(1) == ytr).float().mean():.2f} | val loss {lossf(ov, yva).item():.3f} acc {(ov.argmax(1) == yva).float().mean():.2f}")
