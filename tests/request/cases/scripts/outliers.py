import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
X = torch.randn(2000, 8)
y = X @ torch.randn(8, 1) + 0.1 * torch.randn(2000, 1)
X[777] = 3.0e5  # a broken sensor
loader = DataLoader(TensorDataset(X, y), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
mse = nn.MSELoss()
step = 0
for epoch in range(3):
    for xb, yb in loader:
        opt.zero_grad()
        loss = mse(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        step += 1
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")
