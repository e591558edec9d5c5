import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
centres = torch.randn(8, 30) * 0.4
y = torch.randint(0, 8, (6000,))
x = centres[y] + torch.randn(6000, 30)
train_loader = DataLoader(TensorDataset(x[:5000], y[:5000]), batch_size=100, shuffle=True)
val_loader = DataLoader(TensorDataset(x[5000:], y[5000:]), batch_size=200)
net = nn.Sequential(
    nn.Linear(30, 256), nn.ReLU(), nn.Dropout(0.5),
    nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.5),
    nn.Linear(256, 8),
)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    net.train()
    train_loss = 0.0
    for inputs, targets in train_loader:
        opt.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        opt.step()
        train_loss += loss.item() * len(targets)
    net.eval()
    val_loss = 0.0
    with torch.no_grad():
        for inputs, targets in val_loader:
            val_loss += criterion(net(inputs), targets).item() * len(targets)
    print(f"Epoch {epoch + 1}: training loss {train_loss / 5000:.4f}, validation loss {val_loss / 1000:.4f}")
