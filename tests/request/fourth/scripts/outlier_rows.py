"""A regression in which a few rows were typed in a wrong unit."""

import torch
from torch import nn

torch.manual_seed(6)
x = torch.randn(800, 5)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 1.5]) + 0.1 * torch.randn(800)
x[[40, 222, 555], 2] = 50000.0
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(25):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs)[:, 0], targets)
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
