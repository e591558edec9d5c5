# Daily sales per store and item: next day's count from the last 14 days. Scored with RMSLE.
import numpy as np
import torch
import torch.nn as nn

np.random.seed(42)
torch.manual_seed(42)

# ---------------------------------------------------------------- data
N_SERIES, DAYS, HIST = 60, 200, 14
level = np.random.gamma(1.2, 5.0, N_SERIES)
weekly = 1 + 0.5 * np.sin(2 * np.pi * (np.arange(DAYS)[None] / 7 + np.random.rand(N_SERIES, 1)))
promo = (np.random.rand(N_SERIES, DAYS) < 0.1).astype(float)
closed = np.zeros((N_SERIES, DAYS))
closed[:20, 6::7] = 1
sales = np.random.poisson(level[:, None] * weekly * (1 + 1.5 * promo) * (1 - closed)).astype(float)

rows_x, rows_y, rows_d = [], [], []
for s in range(N_SERIES):
    for d in range(HIST, DAYS):
        dow = np.eye(7)[d % 7]
        rows_x.append(np.concatenate([sales[s, d - HIST:d] / 10, promo[s, d - HIST:d], [promo[s, d], closed[s, d]], dow]))
        rows_y.append(sales[s, d])
        rows_d.append(d)
x = torch.tensor(np.array(rows_x), dtype=torch.float32)
y = torch.tensor(np.array(rows_y), dtype=torch.float32)
day = torch.tensor(rows_d)
x_tr, y_tr = x[day < 165], y[day < 165]
x_va, y_va = x[day >= 165], y[day >= 165]
print("train", tuple(x_tr.shape), "valid", tuple(x_va.shape))

# ---------------------------------------------------------------- model
model = nn.Sequential(
    nn.Linear(x.shape[1], 64), nn.ReLU(),
    nn.Linear(64, 64), nn.ReLU(),
    nn.Linear(64, 1),
)
nn.init.constant_(model[-1].bias, y_tr.mean().item())


def rmsle(pred, true):
    return torch.sqrt(((torch.log1p(pred) - torch.log1p(true)) ** 2).mean())


# ---------------------------------------------------------------- training
opt = torch.optim.Adam(model.parameters(), lr=3e-4)
batch = 64
for epoch in range(12):
    model.train()
    perm = torch.randperm(len(x_tr))
    losses = []
    for i in range(0, len(perm) - batch + 1, batch):
        b = perm[i:i + batch]
        loss = rmsle(model(x_tr[b]).squeeze(1), y_tr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        p = model(x_va).squeeze(1)
        val = rmsle(p, y_va).item()
        mae = (p - y_va).abs().mean().item()
    print(f"epoch {epoch:2d} | train rmsle {np.mean(losses):.4f} | valid rmsle {val:.4f} | valid mae {mae:.3f}")
