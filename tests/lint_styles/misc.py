import torch, torch.nn as nn, torch.nn.functional as F
from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset, Subset
torch.manual_seed(0)
X = torch.randn(1000, 20); Y = (X[:, :3].sum(1) > 0).float()
idx = torch.randperm(1000)
train_set = TensorDataset(X[idx[:800]], Y[idx[:800]]); val_set = TensorDataset(X[idx[800:]], Y[idx[800:]])
def make_model():
    return nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1))
def fit(model, opt, sched=None, batch_sched=False, epochs=5):
    train_dl = DataLoader(train_set, 32, True); val_dl = DataLoader(val_set, 128)
    for ep in range(epochs):
        model.train()
        for xb, yb in train_dl:
            logits = model(xb).squeeze(-1)
            loss = F.binary_cross_entropy_with_logits(logits, yb)
            loss.backward()
            opt.step()
            opt.zero_grad()
            if sched is not None and batch_sched: sched.step()
        model.eval()
        with torch.no_grad():
            vl = sum(F.binary_cross_entropy_with_logits(model(a).squeeze(-1), b).item() for a, b in val_dl)
        if sched is not None and not batch_sched: sched.step(vl)
m = make_model(); o = torch.optim.SGD(m.parameters(), lr=0.1)
fit(m, o, OneCycleLR(o, max_lr=0.1, epochs=5, steps_per_epoch=25), batch_sched=True)
m = make_model(); o = torch.optim.Adam(m.parameters())
fit(m, o, ReduceLROnPlateau(o))
m = make_model(); o = torch.optim.LBFGS(m.parameters())
def closure():
    o.zero_grad(); l = F.binary_cross_entropy_with_logits(m(X).squeeze(1), Y); l.backward(); return l
for _ in range(20): o.step(closure)
# manual softmax at predict time only
clf = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3)); crit = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(clf.parameters(), lr=1e-3)
yy = torch.randint(0, 3, (1000,))
for step in range(100):
    pick = torch.randint(0, 1000, (64,))
    out = clf(X[pick]); loss = crit(out, yy[pick])
    opt.zero_grad(set_to_none=True); loss.backward(); opt.step()
    acc = (out.softmax(-1).argmax(-1) == yy[pick]).float().mean()
    if step % 10 == 0: print(f"{step} {loss:.3f} {acc:.2f}")
