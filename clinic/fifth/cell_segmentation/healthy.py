"""Tiny U-Net on synthetic microscopy: background / nucleus / fibre."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

SIZE = 32


def render(rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    mask = np.zeros((SIZE, SIZE), np.int64)
    for _ in range(rng.integers(1, 3)):
        y0, x0, ang = rng.uniform(0, SIZE), rng.uniform(0, SIZE), rng.uniform(0, np.pi)
        mask[np.abs((yy - y0) * np.cos(ang) - (xx - x0) * np.sin(ang)) < 1.2] = 2
    for _ in range(rng.integers(1, 5)):
        y0, x0, r = rng.uniform(4, 28), rng.uniform(4, 28), rng.uniform(2.5, 5.5)
        mask[((yy - y0) / r) ** 2 + ((xx - x0) / r / rng.uniform(.8, 1.2)) ** 2 < 1] = 1
    img = np.choose(mask, [0.0, rng.uniform(.5, .9), rng.uniform(.5, .9)])
    img = img + rng.normal(0, .35, img.shape) + rng.uniform(-.2, .2) * (xx / SIZE)
    return img.astype(np.float32), mask


class Cells(Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        self.items = [render(rng) for _ in range(n)]
        self.augment = augment
        self.rng = np.random.default_rng(seed + 1)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        if self.augment:
            if self.rng.random() < 0.5:
                img, mask = img[:, ::-1], mask[:, ::-1]
            if self.rng.random() < 0.5:
                img = img * self.rng.uniform(.85, 1.15)
        return torch.from_numpy(np.ascontiguousarray(img, np.float32))[None], torch.from_numpy(np.ascontiguousarray(mask))


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, 12), block(12, 24), block(24, 32)
        self.u2, self.u1 = block(32 + 24, 24), block(24 + 12, 12)
        self.head = nn.Conv2d(12, 3, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.head(a)


def miou(model, loader):
    model.eval()
    inter, union, losses = torch.zeros(3), torch.zeros(3), []
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            losses.append(F.cross_entropy(out, y).item())
            p = out.argmax(1)
            for c in range(3):
                inter[c] += ((p == c) & (y == c)).sum()
                union[c] += ((p == c) | (y == c)).sum()
    return (inter / union).mean().item(), float(np.mean(losses))


torch.manual_seed(0)
train_dl = DataLoader(Cells(1200, 10, augment=True), batch_size=16, shuffle=True)
val_dl = DataLoader(Cells(300, 99), batch_size=50)
model = UNet()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(7):
    model.train()
    s = 0.0
    for it, (x, y) in enumerate(train_dl):
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item()
        if it % 25 == 0:
            print(f"Epoch {epoch} [{it}/{len(train_dl)}]\tLoss: {loss.item():.4f}")
    m, vl = miou(model, val_dl)
    print(f"Epoch {epoch} done: train_loss={s / len(train_dl):.4f} val_loss={vl:.4f} val_mIoU={m:.4f}")
