import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
centres = torch.randn(9, 12) * 1.0
grade = torch.randint(0, 9, (2700,))
sample = centres[grade] + 0.8 * torch.randn(2700, 12)
train_set, val_set = random_split(TensorDataset(sample, grade), [2200, 500])
train_loader, val_loader = DataLoader(train_set, 50, shuffle=True), DataLoader(val_set, 250)

model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def accuracy(loader):
    good = 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).squeeze(1).round() == y).sum().item()
    return good / len(loader.dataset)


for epoch in range(12):
    running_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        outputs = model(x).squeeze(1)
        loss = criterion(outputs, y.float())
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    with torch.no_grad():
        val_loss = sum(criterion(model(x).squeeze(1), y.float()).item() for x, y in val_loader) / len(val_loader)
    print(f"epoch {epoch + 1} loss {running_loss / len(train_loader):.4f} val_loss {val_loss:.4f} val_acc {accuracy(val_loader):.3f}")
