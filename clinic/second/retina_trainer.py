import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class RetinaNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(96, 4))

    def forward(self, x):
        return self.head(self.features(x))


class Trainer:
    def __init__(self, model, train_loader, val_loader):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss()

    def validate(self):
        self.model.eval()
        total = hit = n = 0
        with torch.no_grad():
            for x, y in self.val_loader:
                out = self.model(x)
                total += self.criterion(out, y).item() * len(y)
                hit += (out.argmax(1) == y).sum().item()
                n += len(y)
        return total / n, hit / n

    def fit(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            for x, y in self.train_loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x), y)
                loss.backward()
                self.optimizer.step()
            val_loss, val_acc = self.validate()
            print(f"epoch {epoch + 1}: loss {loss.item():.4f} val_loss {val_loss:.4f} val_acc {val_acc:.3f}")


def retinas(n):
    y = torch.randint(0, 4, (n,))
    x = 0.6 * torch.randn(n, 1, 12, 12)
    for i in range(n):
        k = int(y[i])
        x[i, 0, 6 * (k // 2):6 * (k // 2) + 5, 6 * (k % 2):6 * (k % 2) + 5] += 0.9
    return TensorDataset(x, y)


torch.manual_seed(0)
Trainer(RetinaNet(), DataLoader(retinas(1200), 40, shuffle=True), DataLoader(retinas(300), 100)).fit(7)
