import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
flowers = torch.randn(5, 3, 8, 8) * 0.35
y = torch.arange(24) % 5
x = flowers[y] + torch.randn(24, 3, 8, 8)
yv = torch.arange(300) % 5
xv = flowers[yv] + torch.randn(300, 3, 8, 8)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 5))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
ce = nn.CrossEntropyLoss()
print("training images:", len(loader.dataset))
for epoch in range(70):
    model.train()
    s = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = ce(model(xb), yb)
        loss.backward()
        opt.step()
        s += loss.item() / len(loader)
    model.eval()
    with torch.no_grad():
        out = model(xv)
    print(f"epoch {epoch + 1}: train_loss {s:.4f} val_loss {ce(out, yv).item():.4f} val_acc {(out.argmax(1) == yv).float().mean():.3f}")
