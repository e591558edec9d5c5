import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
rng = np.random.default_rng(7)


def rides(n):
    x = rng.normal(size=(n, 7)).astype("float32")
    fare = 2 * np.abs(x[:, 0]) + np.maximum(x[:, 1], 0) * x[:, 2] + 0.2 * rng.normal(size=n)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(fare.astype("float32")))


train_loader = DataLoader(rides(2500), batch_size=50, shuffle=True)
test_loader = DataLoader(rides(500), batch_size=100)
model = nn.Sequential(
    nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0)
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()

running_loss = 0.0
for epoch in range(12):
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    model.eval()
    test_loss = 0.0
    with torch.no_grad():
        for inputs, targets in test_loader:
            test_loss += criterion(model(inputs), targets).item()
    print(
        f"Epoch {epoch + 1}: train loss {running_loss / len(train_loader):.4f}, val loss {test_loss / len(test_loader):.4f}"
    )
