import argparse, math, json
import numpy as np
import torch
import torch.nn as nn

p = argparse.ArgumentParser()
p.add_argument('--window', default=48, type=int)
p.add_argument('--hidden', default=40, type=int)
p.add_argument('--epochs', default=12, type=int)
p.add_argument('--lr', default=3e-3, type=float)
p.add_argument('--seed', default=1, type=int)
a = p.parse_args()
torch.manual_seed(a.seed)
rng = np.random.default_rng(a.seed)


def electricity(n):
    t = np.arange(n)
    day = np.sin(2 * np.pi * t / 24) + 0.6 * np.sin(4 * np.pi * t / 24 + 1.0)
    week = 1 + 0.35 * np.sign(np.sin(2 * np.pi * t / 168 + 0.3))
    drift = 0.4 * np.sin(2 * np.pi * t / 1900)
    e = np.zeros(n)
    for i in range(1, n):
        e[i] = 0.6 * e[i - 1] + 0.12 * rng.normal()
    return day * week + drift + e


series = electricity(5200).astype(np.float32)
cut = 4200
mu, sd = series[:cut].mean(), series[:cut].std()
series = (series - mu) / sd


def windows(s, w):
    xs, ys = [], []
    for i in range(len(s) - w):
        chunk = s[i:i + w]
        xs.append(chunk)
        ys.append(chunk[-1])
    return torch.tensor(np.array(xs)).unsqueeze(-1), torch.tensor(np.array(ys))


Xtr, Ytr = windows(series[:cut], a.window)
Xva, Yva = windows(series[cut:], a.window)


class GRUForecaster(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.gru = nn.GRU(1, h, batch_first=True)
        self.out = nn.Linear(h, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.out(h[-1]).squeeze(-1)


model = GRUForecaster(a.hidden)
opt = torch.optim.Adam(model.parameters(), lr=a.lr)
for ep in range(a.epochs):
    perm = torch.randperm(len(Xtr))
    losses = []
    for k in range(0, len(perm), 64):
        b = perm[k:k + 64]
        loss = ((model(Xtr[b]) - Ytr[b]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    with torch.no_grad():
        v = ((model(Xva) - Yva) ** 2).mean().item()
    print(json.dumps({'epoch': ep, 'train_mse': round(float(np.mean(losses)), 5), 'val_mse': round(v, 5)}))

# backtest: roll 24 hours ahead from many origins
hold = torch.tensor(series[cut:])
origins = torch.arange(a.window, len(hold) - 24, 7)
ctx = torch.stack([hold[o - a.window:o] for o in origins])
truth = torch.stack([hold[o:o + 24] for o in origins])
preds = []
with torch.no_grad():
    for h in range(24):
        nxt = model(ctx.unsqueeze(-1))
        preds.append(nxt)
        ctx = torch.cat([ctx[:, 1:], nxt[:, None]], 1)
mae = (torch.stack(preds, 1) - truth).abs().mean().item()
print(json.dumps({'backtest_mae_24h': round(mae, 4)}))
