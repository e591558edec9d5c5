import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(4)
n, d = 3000, 40
centres = torch.randn(12, d) * 0.9
labels = torch.randint(0, 12, (n,))
data = centres[labels] + torch.randn(n, d)
train_set, val_set = random_split(TensorDataset(data, labels), [2400, 600])
train_dl = DataLoader(train_set, 64, shuffle=True)
val_dl = DataLoader(val_set, 300)

net = nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 12))
with torch.no_grad():
    net[0].bias.fill_(-0.35)
opt = torch.optim.Adam(net.parameters(), lr=5e-4)
ce = nn.CrossEntropyLoss()
L1 = 2e-3


def evaluate():
    net.eval()
    tot, hit = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_dl:
            o = net(xb)
            tot += ce(o, yb).item()
            hit += (o.argmax(1) == yb).sum().item()
    net.train()
    return tot / len(val_dl), hit / 600


for ep in range(10):
    for xb, yb in train_dl:
        h = net[1](net[0](xb))
        out = net[4](net[3](net[2](h)))
        loss = ce(out, yb) + L1 * h.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    vl, va = evaluate()
    print(f"ep {ep} loss {loss.item():.3f} val_loss {vl:.3f} val_acc {va:.3f} zeros {(h == 0).float().mean():.2f}")
