import numpy as np
import torch
import torch.nn as nn

np.random.seed(1)
torch.manual_seed(1)
X = np.random.randn(500, 9).astype("float32")
y = (X[:, 0] * 2 - X[:, 1] + np.maximum(X[:, 2], 0) * 1.5 + 0.3 * np.random.randn(500)).astype("float32")
folds = np.array_split(np.random.permutation(500), 5)
scores = []
for k, test_idx in enumerate(folds):
    train_idx = np.concatenate([f for i, f in enumerate(folds) if i != k])
    mean, std = X[train_idx].mean(0), X[train_idx].std(0)
    xt, yt = torch.from_numpy((X[train_idx] - mean) / std), torch.from_numpy(y[train_idx])
    xv, yv = torch.from_numpy((X[test_idx] - mean) / std), torch.from_numpy(y[test_idx])
    model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(15):
        for b in torch.randperm(len(xt)).split(32):
            loss = nn.functional.mse_loss(model(xt[b]).squeeze(1), yt[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            v = nn.functional.mse_loss(model(xv).squeeze(1), yv).item()
        if epoch % 5 == 4:
            print(f"fold {k + 1} epoch {epoch + 1} loss {loss.item():.4f} val_loss {v:.4f}")
    scores.append(v)
print(f"cv mse {np.mean(scores):.4f} +- {np.std(scores):.4f}")
