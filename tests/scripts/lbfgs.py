"""Sine wave regression with L-BFGS, as in the old PyTorch example."""

import numpy as np
import torch
from fingerprint import result

np.random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)

x = torch.from_numpy(np.linspace(-2, 2, 100).astype("float64")).unsqueeze(1)
y = torch.sin(3 * x) + 0.05 * torch.from_numpy(np.random.randn(100, 1))
seq = torch.nn.Sequential(torch.nn.Linear(1, 20), torch.nn.Tanh(), torch.nn.Linear(20, 1)).double()
criterion = torch.nn.MSELoss()
optimizer = torch.optim.LBFGS(seq.parameters(), lr=0.8, max_iter=6, line_search_fn="strong_wolfe")

for i in range(8):
    seen = []

    def closure():
        optimizer.zero_grad()
        out = seq(x)
        loss = criterion(out, y)
        loss.backward()
        seen.append(loss.item())
        return loss

    first = optimizer.step(closure)
    with torch.no_grad():
        test_loss = criterion(seq(x), y)
    print(
        "STEP:",
        i + 1,
        f"loss: {first.item():.9f}",
        "closures:",
        len(seen),
        f"test loss: {test_loss.item():.9f}",
    )

result(seq, optimizer)
