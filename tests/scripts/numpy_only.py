# logistic regression, no framework
import numpy as np
from fingerprint import result

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
y = (X @ rng.normal(size=5) > 0).astype(float)
w = np.zeros(5)
for epoch in range(1, 51):
    p = 1 / (1 + np.exp(-X @ w))
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    w -= 0.5 * X.T @ (p - y) / len(y)
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {loss:.6f} acc {np.mean((p > 0.5) == y):.4f}")
np.savez("weights.npz", w=w)
result(w)
