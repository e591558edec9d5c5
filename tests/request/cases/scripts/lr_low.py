import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)
LR = 1e-6
EPOCHS = 8

centers = torch.randn(5, 10) * 1.5
y = torch.randint(0, 5, (1000,))
x = centers[y] + torch.randn(1000, 10)
train_loader = DataLoader(TensorDataset(x[:800], y[:800]), batch_size=40, shuffle=True)

model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.0)
criterion = nn.CrossEntropyLoss()

for epoch in range(EPOCHS):
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(x[800:])
        val_loss = criterion(out, y[800:]).item()
        val_acc = (out.argmax(1) == y[800:]).float().mean().item()
    print(
        f"Epoch {epoch + 1}/{EPOCHS} - loss: {loss.item():.4f} - val_loss: {val_loss:.4f} - val_acc: {val_acc:.4f}"
    )
