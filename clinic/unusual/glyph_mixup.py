import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(314); np.random.seed(314)

# ---------------------------------------------------------------- data: ten 10x10 glyphs, jittered by +-1 pixel, noisy
K, S = 10, 10
glyphs = (np.random.rand(K, S - 2, S - 2) < 0.35).astype(np.float32)

def render(n):
    lab = np.random.randint(K, size=n)
    img = np.zeros((n, S, S), np.float32)
    for i, k in enumerate(lab):
        dy, dx = np.random.randint(3, size=2)
        img[i, dy:dy + S - 2, dx:dx + S - 2] = glyphs[k]
    img += np.random.randn(n, S, S).astype(np.float32) * 0.5
    return img.reshape(n, -1), lab

Xtr, ytr = render(12000)
Xva, yva = render(3000)
mu, sd = Xtr.mean(), Xtr.std()
Xtr, Xva = (Xtr - mu) / sd, (Xva - mu) / sd
dl = DataLoader(TensorDataset(torch.tensor(Xtr), torch.tensor(ytr)), batch_size=100, shuffle=True)
Xva, yva = torch.tensor(Xva), torch.tensor(yva)

# ---------------------------------------------------------------- model
net = nn.Sequential(
    nn.Linear(S * S, 192), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(192, 96), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(96, K),
)
EPOCHS = 15
opt = torch.optim.AdamW(net.parameters(), lr=1.5e-3, weight_decay=0.02)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS * len(dl))
ce = nn.CrossEntropyLoss()
beta = torch.distributions.Beta(1.0, 1.0)

rows = []
for ep in range(EPOCHS):
    net.train()
    ls = []
    for x, y in dl:
        lam = beta.sample().item()
        j = torch.randperm(len(x))
        z = net(lam * x + (1 - lam) * x[j])
        l = lam * ce(z, y) + (1 - lam) * ce(z, y[j])
        opt.zero_grad(); l.backward(); opt.step(); sch.step()
        ls.append(l.item())
    net.eval()
    with torch.no_grad():
        zv = net(Xva)
        rows.append(dict(epoch=ep, train_loss=np.mean(ls), val_loss=ce(zv, yva).item(), val_acc=(zv.argmax(1) == yva).float().mean().item()))
    print("epoch {epoch:02d}  train_loss(mixup) {train_loss:.4f}  val_loss {val_loss:.4f}  val_acc {val_acc:.4f}".format(**rows[-1]))
df = pd.DataFrame(rows)
print(df.tail(3).round(4).to_string(index=False))
