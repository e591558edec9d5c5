import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR

SEED = 515
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def pressure_maps(n):
    """16x16 pressure anomalies; the regime is given by where the high and the low sit relative to each other."""
    yy, xx = np.mgrid[:16, :16]
    y = rng.integers(0, 8, n)
    maps = np.empty((n, 1, 16, 16), np.float32)
    for i, k in enumerate(y):
        ang = k * np.pi / 4 + rng.normal(0, .18)
        cy, cx = 7.5 + rng.normal(0, 1.8, 2)
        dy, dx = 3.2 * np.sin(ang), 3.2 * np.cos(ang)
        hi = np.exp(-((yy - cy - dy) ** 2 + (xx - cx - dx) ** 2) / 9)
        lo = np.exp(-((yy - cy + dy) ** 2 + (xx - cx + dx) ** 2) / 9)
        noise = rng.normal(0, 1, (4, 4)).repeat(4, 0).repeat(4, 1) * .35
        maps[i, 0] = hi - lo + noise + rng.normal(0, .5, (16, 16))
    return torch.from_numpy(maps), torch.from_numpy(y)


train_x, train_y = pressure_maps(8000)
test_x, test_y = pressure_maps(1500)


def train(model, optimizer, scheduler, epoch):
    model.train()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(train_x, train_y), batch_size=64, shuffle=True)
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 25 == 0:
            print('Train Epoch: {} [{}/{}]\tLoss: {:.6f}'.format(epoch, batch_idx * 64, len(train_x), loss.item()))
        scheduler.step()


def test(model):
    model.eval()
    with torch.no_grad():
        out = model(test_x)
    loss = nn.functional.cross_entropy(out, test_y).item()
    acc = (out.argmax(1) == test_y).float().mean().item()
    print('\nTest set: Average loss: {:.4f}, Accuracy: {:.4f}\n'.format(loss, acc))


model = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Dropout(.25), nn.Linear(64, 8))
optimizer = optim.Adadelta(model.parameters(), lr=0.4)
scheduler = StepLR(optimizer, step_size=1, gamma=0.85)
for epoch in range(1, 11):
    train(model, optimizer, scheduler, epoch)
    test(model)
