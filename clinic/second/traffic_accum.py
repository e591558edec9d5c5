import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATION_STEPS = 16

torch.manual_seed(0)
x = torch.randn(4096, 12)
y = torch.stack([x[:, :4].sum(1), x[:, 4:8].sum(1), x[:, 8:].sum(1)], 1).argmax(1)
loader = DataLoader(TensorDataset(x[:3584], y[:3584]), batch_size=8, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
criterion = nn.CrossEntropyLoss()
optimizer.zero_grad()
micro = 0
for epoch in range(7):
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        loss.backward()
        micro += 1
        if micro % ACCUMULATION_STEPS == 0:
            optimizer.step()
            optimizer.zero_grad()
        if micro % 64 == 0:
            print(f"micro step {micro} loss {loss.item():.4f}")
    with torch.no_grad():
        out = model(x[3584:])
    print(f"epoch {epoch} val_loss {criterion(out, y[3584:]).item():.4f} val_acc {(out.argmax(1) == y[3584:]).float().mean():.3f}")
