import numpy as np
import pandas as pd
import torch
import torch.nn as nn

np.random.seed(42)
torch.manual_seed(42)

# ---------------------------------------------------------------- data
N = 6000
df = pd.DataFrame({
    "tenure": np.random.gamma(3.0, 10.0, N),
    "age": np.random.uniform(18, 80, N),
    "minutes": np.random.gamma(2.0, 150.0, N),
    "data_gb": np.random.gamma(1.5, 6.0, N),
    "calls": np.random.poisson(3, N).astype(float),
    "roaming": np.random.binomial(1, 0.2, N).astype(float),
    "region": np.random.choice(list("NSEW"), N),
    "signup_day": np.random.randint(0, 2000, N),
})
use = (df.minutes - 300) / 210 + 0.8 * df.roaming
web = (df.data_gb - 9) / 7.3 + 0.03 * (45 - df.age)
util = np.stack([
    -1.2 * use - 1.0 * web,
    1.8 * use - 0.4 * web + 0.3 * (df.region == "N"),
    1.8 * web - 0.4 * use + 0.3 * (df.region == "S"),
    0.9 * (use * web) + 0.02 * (df.tenure - 30),
], axis=1)
util = util + np.random.gumbel(0, 0.35, util.shape)
df["plan"] = util.argmax(1)

# ---------------------------------------------------------------- prep
df["log_minutes"] = np.log1p(df.minutes)
df["log_gb"] = np.log1p(df.data_gb)
df = df.sort_values("signup_day", kind="stable").reset_index(drop=True)
target = df["plan"].to_numpy()
df = pd.get_dummies(df, columns=["region"], dtype=float)
feats = [c for c in df.columns if c not in ("plan", "signup_day")]

cut = int(N * 0.8)
X = df[feats].to_numpy(dtype=np.float32)
mu, sd = X[:cut].mean(0), X[:cut].std(0) + 1e-6
X = (X - mu) / sd
X_train, X_valid = torch.tensor(X[:cut]), torch.tensor(X[cut:])
y_train, y_valid = torch.tensor(target[:cut]), torch.tensor(target[cut:])
print("train", X_train.shape, "valid", X_valid.shape, "class share", np.bincount(target) / N)

# ---------------------------------------------------------------- model
net = nn.Sequential(
    nn.Linear(len(feats), 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 32), nn.ReLU(),
    nn.Linear(32, 4),
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)
ce = nn.CrossEntropyLoss()
BS = 64

for epoch in range(20):
    net.train()
    perm = torch.randperm(cut)
    tr_loss = 0
    for b in range(0, cut, BS):
        ii = perm[b:b + BS]
        opt.zero_grad()
        loss = ce(net(X_train[ii]), y_train[ii])
        loss.backward()
        opt.step()
        tr_loss += loss.item() * len(ii) / cut
    net.eval()
    with torch.no_grad():
        pred = net(X_valid)
        va_loss = ce(pred, y_valid).item()
        acc = (pred.argmax(1) == y_valid).float().mean().item()
    print(f"epoch={epoch} loss={tr_loss:.4f} val_loss={va_loss:.4f} val_acc={acc:.4f}")
