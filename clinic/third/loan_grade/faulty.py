import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 2024
np.random.seed(SEED)
torch.manual_seed(SEED)

# ---------------------------------------------------------------- data
n = 8000
df = pd.DataFrame({
    "annual_income": np.random.lognormal(10.8, 0.5, n),
    "loan_amount": np.random.uniform(1000, 40000, n),
    "credit_score": np.random.normal(680, 60, n).clip(400, 850),
    "age": np.random.randint(19, 80, n).astype(float),
    "n_open_accounts": np.random.poisson(6, n).astype(float),
    "utilisation": np.random.beta(2, 3, n),
    "months_employed": np.random.exponential(60, n),
    "n_late_payments": np.random.poisson(0.8, n).astype(float),
})
risk = (
    -0.018 * (df["credit_score"] - 680)
    + 1.6 * (df["loan_amount"] / df["annual_income"] - 0.35)
    + 2.5 * (df["utilisation"] - 0.4)
    + 0.5 * df["n_late_payments"]
    - 0.006 * (df["months_employed"] - 60)
    + 0.03 * np.abs(df["age"] - 45)
    + np.random.normal(0, 0.35, n)
)
df["grade"] = pd.qcut(risk, 4, labels=False)

train = df.iloc[:6400].reset_index(drop=True)
valid = df.iloc[6400:].reset_index(drop=True)
features = [c for c in df.columns if c != "grade"]

X_tr = train[features]
X_va = valid[features]

X_tr = torch.tensor(X_tr.values, dtype=torch.float32)
X_va = torch.tensor(X_va.values, dtype=torch.float32)
y_tr = torch.tensor(train["grade"].values, dtype=torch.long)
y_va = torch.tensor(valid["grade"].values, dtype=torch.long)

# ---------------------------------------------------------------- model
model = nn.Sequential(
    nn.Linear(len(features), 64), nn.ReLU(),
    nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(32, 4),
)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
n_epochs, bs = 15, 64

# ---------------------------------------------------------------- fit
history = []
for ep in range(n_epochs):
    model.train()
    idx = np.random.permutation(len(X_tr))
    ep_loss = 0.0
    for s in range(0, len(idx), bs):
        rows = idx[s:s + bs]
        opt.zero_grad()
        out = model(X_tr[rows])
        loss = F.cross_entropy(out, y_tr[rows])
        loss.backward()
        opt.step()
        ep_loss += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        out = model(X_va)
        val_loss = F.cross_entropy(out, y_va).item()
        val_acc = (out.argmax(1) == y_va).float().mean().item()
    history.append((ep, ep_loss / len(idx), val_loss, val_acc))

print(pd.DataFrame(history, columns=["epoch", "train_loss", "val_loss", "val_acc"]).round(4).to_string(index=False))
