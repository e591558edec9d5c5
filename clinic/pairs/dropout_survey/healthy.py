import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SurveyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 5)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        x = self.dropout(F.relu(self.fc1(x)))
        x = self.dropout(F.relu(self.fc2(x)))
        return self.fc3(x)


def answers(n, types, g):
    y = torch.randint(0, 5, (n,), generator=g)
    return TensorDataset(types[y] + 1.3 * torch.randn(n, 30, generator=g), y)


def test(model, loader):
    model.eval()
    loss = correct = 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
    n = len(loader.dataset)
    return loss / n, correct / n


torch.manual_seed(70)
g = torch.Generator().manual_seed(70)
types = 0.8 * torch.randn(5, 30, generator=g)
train_loader = DataLoader(answers(2000, types, g), batch_size=50, shuffle=True)
test_loader = DataLoader(answers(600, types, g), batch_size=200)
model = SurveyNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
for epoch in range(8):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    val_loss, val_acc = test(model, test_loader)
    print(f"Epoch: {epoch + 1} Loss: {loss.item():.4f} Val loss: {val_loss:.4f} Val acc: {val_acc:.3f}")
