"""Small lesions in larger slices: Dice plus cross-entropy."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Slices(Dataset):
    def __init__(self, n, seed, size=24):
        g = torch.Generator().manual_seed(seed)
        self.x = 0.4 * torch.randn(n, 1, size, size, generator=g)
        self.m = torch.zeros(n, 1, size, size)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        for i in range(n):
            cy, cx = torch.randint(4, size - 4, (2,), generator=g)
            disc = ((yy - cy) ** 2 + (xx - cx) ** 2 <= int(torch.randint(4, 10, (1,), generator=g))).float()
            self.m[i, 0] = disc
            self.x[i, 0] += 1.2 * disc

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.m[i]


class UNetish(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.d1 = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU())
        self.d2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.BatchNorm2d(2 * c), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * c, c, 2, 2)
        self.out = nn.Conv2d(2 * c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.up(self.d2(F.max_pool2d(a, 2)))
        return self.out(torch.cat([a, b], 1))


def dice_loss(logit, mask, smooth=1.0):
    p = torch.sigmoid(logit)
    inter = (p * mask).sum((1, 2, 3))
    return (1 - (2 * inter + smooth) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + smooth)).mean()


def criterion(logit, mask):
    return dice_loss(logit, mask) + F.binary_cross_entropy_with_logits(logit, mask)


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(Slices(320, 0), batch_size=16, shuffle=True)
    val_loader = DataLoader(Slices(80, 1), batch_size=40)
    net = UNetish()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(10):
        net.train()
        tl = 0.0
        for x, m in train_loader:
            opt.zero_grad()
            loss = criterion(net(x), m)
            loss.backward()
            opt.step()
            tl += loss.item() / len(train_loader)
        net.eval()
        with torch.no_grad():
            vl = sum(criterion(net(x), m).item() for x, m in val_loader) / len(val_loader)
            dice = sum(1 - dice_loss(net(x), m).item() for x, m in val_loader) / len(val_loader)
        print(f"epoch {epoch + 1} loss {tl:.4f} val_loss {vl:.4f} dice {dice:.4f}")
