import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
n = 1200
visits = torch.randn(n, 20)
readmitted = (visits[:, 0] - visits[:, 1] + 1.5 * torch.randn(n) > 0).long()
data = TensorDataset(visits, readmitted)
order = torch.randperm(n).tolist()
train_set = Subset(data, order)
val_set = Subset(data, order[900:])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=150)

model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(25):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        outs = [(criterion(model(x), y).item(), (model(x).argmax(1) == y).float().mean().item()) for x, y in val_loader]
    print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {sum(o[0] for o in outs) / len(outs):.4f} val_acc {sum(o[1] for o in outs) / len(outs):.3f}")
