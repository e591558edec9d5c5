import torch
import torch.nn as nn

torch.manual_seed(0)
centers = torch.randn(6, 12) * 2
labels = torch.randint(0, 6, (1200,))
features = centers[labels] + torch.randn(1200, 12)

model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    order = torch.randperm(1200)
    correct = 0
    for k in range(0, 1200, 60):
        b = order[k : k + 60]
        pred = model(features[b]).squeeze(1)
        loss = criterion(pred, labels[b].float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (pred.round().long() == labels[b]).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {correct / 1200:.3f}")
