import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler


class Defects(Dataset):
    """Five kinds of defects, the rare ones much rarer."""

    share = torch.tensor([0.80, 0.10, 0.05, 0.03, 0.02])

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.multinomial(self.share, n, replacement=True, generator=g)
        centres = torch.randn(5, 16, generator=torch.Generator().manual_seed(99)) * 1.2
        self.x = centres[self.y] + torch.randn(n, 16, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main():
    torch.manual_seed(0)
    train, val = Defects(3000, 1), Defects(1000, 2)
    counts = torch.bincount(train.y, minlength=5).float()
    sampler = WeightedRandomSampler((1 / counts)[train.y], num_samples=len(train), replacement=True)
    loader = DataLoader(train, batch_size=64, sampler=sampler)
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 5))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
    for epoch in range(8):
        net.train()
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            out = net(val.x)
            pred = out.argmax(1)
            balanced = sum((pred[val.y == k] == k).float().mean().item() for k in range(5)) / 5
        print(f"epoch {epoch}: loss {loss.item():.4f} val_loss {F.cross_entropy(out, val.y).item():.4f} bal_acc {balanced:.3f}")


if __name__ == "__main__":
    main()
