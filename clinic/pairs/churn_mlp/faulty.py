import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

HPARAMS = dict(batch_size=3200, lr=0.02, epochs=40)


class Customers(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 12, generator=g)
        risk = 1.5 * self.x[:, 0] * self.x[:, 1] + self.x[:, 2] ** 2 - 1 + self.x[:, 3]
        self.y = (risk + 0.3 * torch.randn(n, generator=g) > 0).float()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


class ChurnModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 64)
        self.b = nn.Linear(64, 32)
        self.c = nn.Linear(32, 1)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x))))).flatten()


def epoch_pass(model, loader, optimizer=None):
    total = hits = 0.0
    for x, y in loader:
        logit = model(x)
        loss = F.binary_cross_entropy_with_logits(logit, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(y)
        hits += ((logit > 0) == (y > 0.5)).sum().item()
    return total / len(loader.dataset), hits / len(loader.dataset)


def main():
    torch.manual_seed(17)
    train_loader = DataLoader(Customers(3200, 1), batch_size=HPARAMS["batch_size"], shuffle=True)
    val_loader = DataLoader(Customers(800, 2), batch_size=400)
    model = ChurnModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=HPARAMS["lr"], momentum=0.9, weight_decay=5e-3)
    for epoch in range(HPARAMS["epochs"]):
        model.train()
        loss, acc = epoch_pass(model, train_loader, optimizer)
        model.eval()
        with torch.no_grad():
            val_loss, val_acc = epoch_pass(model, val_loader)
        if epoch % 2 == 1:
            print(
                f"{epoch + 1:3d} loss={loss:.4f} acc={acc:.3f} val_loss={val_loss:.4f} val_acc={val_acc:.3f}"
            )


main()
