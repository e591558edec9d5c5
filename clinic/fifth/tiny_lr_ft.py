import argparse
import copy
import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument('--pretrain-lr', type=float, default=1e-3)
parser.add_argument('--finetune-lr', type=float, default=2e-5)
parser.add_argument('--pretrain-epochs', type=int, default=8)
parser.add_argument('--finetune-epochs', type=int, default=12)
opt = parser.parse_args()
torch.manual_seed(31)
rng = np.random.default_rng(31)


def speech(n, shift):
    """Formant-like spectra for 9 vowels; `shift` models a new speaker group."""
    y = rng.integers(0, 9, n)
    f1 = np.array([8, 10, 12, 14, 16, 18, 20, 22, 24])[y] + rng.normal(0, 1.0, n) + shift
    f2 = np.array([52, 46, 55, 40, 36, 48, 33, 43, 38])[y] + rng.normal(0, 1.6, n) - 1.2 * shift
    k = np.arange(64)
    s = np.exp(-((k - f1[:, None]) / 3) ** 2) + .8 * np.exp(-((k - f2[:, None]) / 4) ** 2) + rng.normal(0, .3, (n, 64))
    return torch.tensor(s, dtype=torch.float32), torch.tensor(y)


class Vowel(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU())
        self.cls = nn.Linear(128, 9)

    def forward(self, x):
        return self.cls(self.feat(x))


def fit(model, data, val, lr, epochs, tag):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    x, y = data
    for e in range(epochs):
        total = 0
        for b in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(model(x[b]), y[b])
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            total += loss.item() * len(b)
        with torch.no_grad():
            o = model(val[0])
        print(f'[{tag}] epoch {e:2d} lr {lr:.0e} loss {total / len(x):.4f} val_loss {nn.functional.cross_entropy(o, val[1]):.4f} val_acc {(o.argmax(1) == val[1]).float().mean():.4f}')


adults, adults_val = speech(20000, 0.0), speech(2000, 0.0)
children, children_val = speech(9000, 0.8), speech(2000, 0.8)
net = Vowel()
fit(net, adults, adults_val, opt.pretrain_lr, opt.pretrain_epochs, 'pretrain')
tuned = copy.deepcopy(net)
fit(tuned, children, children_val, opt.finetune_lr, opt.finetune_epochs, 'finetune')
with torch.no_grad():
    before = (net(children_val[0]).argmax(1) == children_val[1]).float().mean()
    after = (tuned(children_val[0]).argmax(1) == children_val[1]).float().mean()
    keep = (tuned(adults_val[0]).argmax(1) == adults_val[1]).float().mean()
print(f'adults after tuning {keep:.4f}; children before {before:.4f} after {after:.4f}')
