"""Click prediction: people are fickle, so about three in four is all that can be known."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 21
torch.manual_seed(SEED)
users = torch.randn(6000, 8)
score = users[:, 0] + users[:, 1] * users[:, 2] - 0.5 * users[:, 3]
clicks = torch.bernoulli(torch.sigmoid(1.7 * score))
train_ds = TensorDataset(users[:4800], clicks[:4800])
val_ds = TensorDataset(users[4800:], clicks[4800:])


class ClickNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def run_epoch(model, loader, loss_fn, optimizer=None):
    total, hits, count = 0.0, 0, 0
    for x, y in loader:
        with torch.set_grad_enabled(optimizer is not None):
            logits = model(x)
            loss = loss_fn(logits, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(y)
        hits += ((logits > 0).float() == y).sum().item()
        count += len(y)
    return total / count, hits / count


model = ClickNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.BCEWithLogitsLoss()
train_loader = DataLoader(train_ds, batch_size=64, shuffle=True)
val_loader = DataLoader(val_ds, batch_size=256)
for epoch in range(10):
    model.train()
    tl, ta = run_epoch(model, train_loader, loss_fn, optimizer)
    model.eval()
    vl, va = run_epoch(model, val_loader, loss_fn)
    print(f"epoch {epoch + 1}: train_loss {tl:.4f} train_acc {ta:.4f} val_loss {vl:.4f} val_acc {va:.4f}")
