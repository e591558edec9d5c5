import logging
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

logging.basicConfig(level=logging.INFO, format='[%(levelname)s] %(message)s')
torch.manual_seed(1)
rng = np.random.default_rng(1)


def transactions(n):
    x = rng.normal(size=(n, 16))
    risk = 1.5 * x[:, 0] * (x[:, 1] > .5) + 1.3 * np.abs(x[:, 2]) - x[:, 3] * x[:, 4] + .6 * x[:, 5]
    p = 1 / (1 + np.exp(-(1.7 * risk - 9.3)))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(rng.random(n) < p).float()


def average_precision(s, y):
    y = y[s.argsort(descending=True)]
    prec = y.cumsum(0) / torch.arange(1, len(y) + 1)
    return float((prec * y).sum() / y.sum())


x, y = transactions(60000)
xv, yv = transactions(20000)
logging.info('fraud rate: train %.4f, valid %.4f', y.mean(), yv.mean())
weights = torch.where(y > 0, 0.2 / y.mean(), 0.8 / (1 - y.mean()))
sampler = WeightedRandomSampler(weights, 30000)
dl = DataLoader(TensorDataset(x, y), batch_size=100, sampler=sampler)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3)
for ep in range(16):
    net.train()
    running = []
    for xb, yb in dl:
        loss = nn.functional.binary_cross_entropy_with_logits(net(xb)[:, 0], yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running.append(loss.item())
    net.eval()
    with torch.no_grad():
        s = net(xv)[:, 0]
    acc = ((s > 0).float() == yv).float().mean()
    logging.info('ep %02d loss %.4f | valid loss %.4f acc %.4f recall %.4f', ep, np.mean(running),
                 nn.functional.binary_cross_entropy_with_logits(s, yv), acc, ((s > 0) & (yv > 0)).sum() / yv.sum())
logging.info('valid average precision %.4f', average_precision(s, yv))
