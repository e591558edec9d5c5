import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

torch.manual_seed(14)
kinds = torch.randn(12, 20)


def leaves(n):
    y = torch.randint(0, 12, (n,))
    return TensorDataset(kinds[y] + 1.1 * torch.randn(n, 20), y)


dataset = leaves(2600)
order = torch.randperm(len(dataset)).tolist()
train_set, val_set = Subset(dataset, order[:2000]), Subset(dataset, order[2000:])
train_set = ConcatDataset([train_set])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=300)


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(20, 96)
        self.b = nn.Linear(96, 12)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return self.b(self.drop(F.relu(self.a(x))))


net = LeafNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
for epoch in range(8):
    net.train()
    running = 0.0
    for x, y in train_loader:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() / len(train_loader)
    net.eval()
    with torch.no_grad():
        res = [
            (F.cross_entropy(net(x), y).item(), (net(x).argmax(1) == y).float().mean().item())
            for x, y in val_loader
        ]
    print(
        f"epoch {epoch + 1} loss {running:.4f} val_loss {sum(r[0] for r in res) / len(res):.4f} val_acc {sum(r[1] for r in res) / len(res):.3f}"
    )
