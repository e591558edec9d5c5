"""Monthly spend prediction: mixed categorical / numeric table, entity embeddings, early stopping."""
import copy
import numpy as np, pandas as pd, torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SEED = 7
np.random.seed(SEED); torch.manual_seed(SEED)
CATS = {"city": 14, "plan": 5, "device": 8}
NUMS = ["age", "usage", "tenure"]
NOISE = 0.5


def make_frame(n, rng):
    df = pd.DataFrame({c: rng.integers(0, k, n) for c, k in CATS.items()})
    df["age"] = rng.normal(41, 12, n)
    df["usage"] = np.exp(rng.normal(1.0, 0.6, n))
    df["tenure"] = rng.uniform(0, 10, n)
    eff = np.random.default_rng(99)
    city, plan, dev = eff.normal(0, .8, 14), eff.normal(0, .7, 5), eff.normal(0, .4, 8)
    slope = eff.normal(0, .5, 5)
    z = (np.log(df.usage) - 1.0) / .6
    f = (city[df.city] + plan[df.plan] + dev[df.device] + slope[df.plan] * z
         + .6 * np.sin(df.tenure * .6) + .3 * (df.age - 41) / 12)
    df["spend"] = f + rng.normal(0, NOISE, n)
    return df


class Table(Dataset):
    def __init__(self, df, mu, sd):
        self.cat = {c: torch.tensor(df[c].values, dtype=torch.long) for c in CATS}
        num = df[NUMS].copy(); num["usage"] = np.log(num["usage"])
        self.num = torch.tensor(((num - mu) / sd).values, dtype=torch.float32)
        self.y = torch.tensor(df["spend"].values, dtype=torch.float32)

    def __len__(self): return len(self.y)

    def __getitems__(self, idx):
        i = torch.as_tensor(idx)
        return {**{c: v[i] for c, v in self.cat.items()}, "num": self.num[i], "target": self.y[i]}


class SpendNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.ModuleDict({c: nn.Embedding(k, min(6, (k + 1) // 2)) for c, k in CATS.items()})
        d = sum(e.embedding_dim for e in self.emb.values()) + len(NUMS)
        self.head = nn.Sequential(nn.Linear(d, 48), nn.ReLU(), nn.Dropout(.05), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, b):
        x = torch.cat([self.emb[c](b[c]) for c in CATS] + [b["num"]], -1)
        return self.head(x).squeeze(-1)


def evaluate(model, loader):
    model.eval(); se = n = 0
    with torch.no_grad():
        for b in loader:
            se += ((model(b) - b["target"]) ** 2).sum().item(); n += len(b["target"])
    return se / n


rng = np.random.default_rng(SEED)
frames = {k: make_frame(n, rng) for k, n in (("train", 12000), ("valid", 3000), ("test", 3000))}
tmp = frames["train"][NUMS].copy(); tmp["usage"] = np.log(tmp["usage"])
mu, sd = tmp.mean(), tmp.std()
ident = lambda b: b
loaders = {k: DataLoader(Table(f, mu, sd), batch_size=256, shuffle=(k == "train"), collate_fn=ident) for k, f in frames.items()}

net = SpendNet()
opt = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=1e-3)
best, best_state, bad, PATIENCE = float("inf"), None, 0, 6
for epoch in range(1, 41):
    net.train(); tot = 0.
    for b in loaders["train"]:
        loss = nn.functional.mse_loss(net(b), b["target"])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(b["target"])
    tr, va = tot / 12000, evaluate(net, loaders["valid"])
    print(f"epoch {epoch:02d}  train_mse {tr:.4f}  valid_mse {va:.4f}")
    if va < best - 1e-4:
        best, best_state, bad = va, copy.deepcopy(net.state_dict()), 0
    else:
        bad += 1
        if bad >= PATIENCE:
            print(f"early stop at epoch {epoch}"); break
net.load_state_dict(best_state)
print(f"best valid {best:.4f} | test {evaluate(net, loaders['test']):.4f} | noise floor {NOISE**2:.4f} | target var {frames['test'].spend.var():.3f}")
