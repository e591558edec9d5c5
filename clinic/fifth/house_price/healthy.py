import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

np.random.seed(42)
torch.manual_seed(42)

# ---- data ----
N = 20000
area = np.random.gamma(6, 18, N)
rooms = np.clip(np.round(area / 28 + np.random.normal(0, .8, N)), 1, 9)
age = np.random.uniform(0, 90, N)
lat, lon = np.random.uniform(-1, 1, (2, N))
dist = np.sqrt((lat - .2) ** 2 + (lon + .3) ** 2)
garden = np.random.rand(N) < .3
price = 2.1 * area * np.exp(-.9 * dist) + 9 * rooms - .35 * age + 24 * garden * (dist > .6) + .004 * (age - 45) ** 2 + 60
price *= np.exp(np.random.normal(0, .12, N))
feats = np.stack([area, rooms, age, lat, lon, garden], 1).astype(np.float32)
target = np.log(price).astype(np.float32)

n_tr = 16000
mean, std = feats[:n_tr].mean(0), feats[:n_tr].std(0)
feats = (feats - mean) / std
tm, ts = target[:n_tr].mean(), target[:n_tr].std()
target = (target - tm) / ts
X = torch.from_numpy(feats)
Y = torch.from_numpy(target)


class PriceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU())
        self.head = nn.Linear(96, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def mse(pred, y):
    return ((pred - y) ** 2).mean()


net = PriceNet()
optimizer = optim.AdamW(net.parameters(), lr=1e-3)
EPOCHS = 36
for epoch in range(EPOCHS):
    perm = torch.randperm(n_tr)
    running = 0.
    for i in range(0, n_tr, 32):
        b = perm[i:i + 32]
        optimizer.zero_grad()
        loss = mse(net(X[b]), Y[b])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(b)
    if epoch % 3 == 2:
        with torch.no_grad():
            val = mse(net(X[n_tr:]), Y[n_tr:]).item()
        print('Epoch [%d/%d] train MSE: %.4f, valid MSE: %.4f' % (epoch + 1, EPOCHS, running / n_tr, val))

with torch.no_grad():
    p = net(X[n_tr:]).reshape(-1)
    t = Y[n_tr:]
    r2 = 1 - ((p - t) ** 2).sum() / ((t - t.mean()) ** 2).sum()
print('R2 on held-out houses: %.4f' % r2)
