# coding: utf-8

# # Coloured shapes
# exported from a notebook

# In[1]:

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(7)
torch.manual_seed(7)


# In[2]:

def draw(shape, tone, size=24):
    img = rng.integers(0, 110, (size, size, 3)).astype(np.float32)
    yy, xx = np.mgrid[:size, :size]
    cy, cx = rng.uniform(8, 16, 2)
    r = rng.uniform(4, 7)
    if shape == 0:
        m = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
    elif shape == 1:
        m = (abs(yy - cy) < r * .88) & (abs(xx - cx) < r * .88)
    elif shape == 2:
        m = (yy - cy < r * .8) & (yy - cy > -r + 2 * abs(xx - cx))
    else:
        m = (abs(yy - cy) < r * .4) | (abs(xx - cx) < r * .4)
        m &= (abs(yy - cy) < r) & (abs(xx - cx) < r)
    base = np.array([150, 105, 90]) if tone == 0 else np.array([95, 105, 150])
    img[m] = 0.45 * img[m] + base + rng.normal(0, 22, 3)
    img += rng.normal(0, 14, img.shape)
    return np.clip(img, 0, 255).astype(np.uint8)


def make(n):
    s = rng.integers(0, 4, n)
    t = rng.integers(0, 2, n)
    return np.stack([draw(a, b) for a, b in zip(s, t)]), s * 2 + t


X, y = make(3600)
Xt, yt = make(1000)
X.shape, y[:10]


# In[3]:

def to_tensor(a):
    a = a.astype(np.float32) / 255.0
    a = a.reshape(len(a), 3, 24, 24)
    return torch.from_numpy((a - 0.35) / 0.2)


xtr, xte = to_tensor(X), to_tensor(Xt)
ytr, yte = torch.tensor(y), torch.tensor(yt)


# In[4]:

net = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(),
    nn.Dropout(0.2), nn.Linear(32 * 9, 8))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)


# In[5]:

for epoch in range(8):
    net.train()
    perm = torch.randperm(len(xtr))
    tot = 0
    for i in range(0, len(perm), 48):
        j = perm[i:i + 48]
        loss = F.cross_entropy(net(xtr[j]), ytr[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(j)
    net.eval()
    with torch.no_grad():
        p = net(xte)
    print(f"epoch {epoch}: train {tot / len(xtr):.4f}  test {F.cross_entropy(p, yte):.4f}  acc {(p.argmax(1) == yte).float().mean():.4f}")


# In[6]:

print("test accuracy", (p.argmax(1) == yte).float().mean().item())
