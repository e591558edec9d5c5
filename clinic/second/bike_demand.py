import math

import torch
from torch import nn, optim

torch.manual_seed(0)
hours = torch.randint(0, 24, (3000,)).float()
temp = torch.rand(3000) * 30
weekday = torch.randint(0, 7, (3000,)).float()
demand = torch.exp(-((hours - 8) / 2) ** 2) + torch.exp(-((hours - 18) / 3) ** 2) + 0.02 * temp + 0.2 * (weekday > 4)
X = torch.stack([torch.sin(hours * math.pi / 12), torch.cos(hours * math.pi / 12), (temp - 15) / 9, (weekday - 3) / 2], 1)
Y = ((demand - demand.mean()) / demand.std() + 0.1 * torch.randn(3000)).unsqueeze(1)
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = optim.Adam(model.parameters(), lr=1e-3)
scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
criterion = nn.MSELoss()
EPOCHS = 15
for epoch in range(EPOCHS):
    model.train()
    train_loss = 0.0
    for b in torch.randperm(2500).split(50):
        optimizer.zero_grad()
        loss = criterion(model(X[b]), Y[b])
        loss.backward()
        optimizer.step()
        scheduler.step()
        train_loss += loss.item() / 50
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(X[2500:]), Y[2500:]).item()
    print(f"Epoch {epoch + 1}/{EPOCHS} loss: {train_loss:.4f} val_loss: {val_loss:.4f}")
