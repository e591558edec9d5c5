import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class WineNet(nn.Module):
    def __init__(self, n_features=11, n_classes=10):
        super().__init__()
        self.fc1 = nn.Linear(n_features, 64)
        self.fc2 = nn.Linear(64, 64)
        self.out = nn.Linear(64, n_classes)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = self.drop(F.relu(self.fc1(x)))
        x = self.drop(F.relu(self.fc2(x)))
        return self.out(x)


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr=1e-3):
        self.model = model
        self.train_loader = train_loader
        self.val_loader = val_loader
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self):
        self.model.train()
        losses = []
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def validate(self):
        self.model.eval()
        losses, correct, seen = [], 0, 0
        with torch.no_grad():
            for x, y in self.val_loader:
                out = self.model(x)
                losses.append(self.criterion(out, y).item())
                correct += (out.argmax(dim=1) == y).sum().item()
                seen += len(y)
        return sum(losses) / len(losses), correct / seen

    def fit(self, epochs):
        for epoch in range(epochs):
            train_loss = self.train_epoch()
            val_loss, val_acc = self.validate()
            print(f"epoch {epoch}: train_loss={train_loss:.4f} val_loss={val_loss:.4f} val_acc={val_acc:.4f}")


def make_data(n, generator, centers):
    labels = torch.randint(0, len(centers), (n,), generator=generator)
    return TensorDataset(centers[labels] + torch.randn(n, centers.shape[1], generator=generator), labels)


if __name__ == "__main__":
    torch.manual_seed(11)
    g = torch.Generator().manual_seed(5)
    centers = 1.6 * torch.randn(10, 11, generator=g)
    train = DataLoader(make_data(3000, g, centers), batch_size=64, shuffle=True)
    val = DataLoader(make_data(800, g, centers), batch_size=200)
    Trainer(WineNet(), train, val).fit(12)
