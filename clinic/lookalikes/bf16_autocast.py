import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.fc = nn.Linear(16 * 9, 3)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def textures(n):
    y = torch.randint(0, 3, (n,))
    x = 0.6 * torch.randn(n, 1, 12, 12)
    ramp = torch.arange(12)
    for i in range(n):
        if y[i] == 0:
            x[i, 0] += torch.sin(ramp * 1.5)[None, :]
        elif y[i] == 1:
            x[i, 0] += torch.sin(ramp * 1.5)[:, None]
        else:
            x[i, 0] += torch.sin((ramp[:, None] + ramp[None, :]) * 1.0)
    return TensorDataset(x, y)


train = DataLoader(textures(1200), batch_size=32, shuffle=True)
val = DataLoader(textures(300), batch_size=100)
model = SmallCNN()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    val_loss = correct = 0
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for x, y in val:
            out = model(x)
            val_loss += criterion(out, y).item() / len(val)
            correct += (out.argmax(1) == y).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val_loss:.4f} acc {correct / 300:.3f}")
