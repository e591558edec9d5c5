import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(800, 10)
w = torch.randn(10)
y = torch.tanh(X @ w / 2) * 2 + 0.8 * torch.randn(800)
train = DataLoader(TensorDataset(X[:640], y[:640, None]), batch_size=4, shuffle=True)
val_x, val_y = X[640:], y[640:, None]

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=5e-3)
loss_fn = nn.MSELoss()
for epoch in range(8):
    for i, (xb, yb) in enumerate(train):
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        if i % 20 == 0:
            print(f"epoch {epoch} it {i} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"epoch {epoch} val_loss {loss_fn(model(val_x), val_y).item():.4f}")
