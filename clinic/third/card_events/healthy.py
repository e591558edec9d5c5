"""Flag suspicious cards from their last 20 events (GRU)."""
import numpy as np
import torch
import torch.nn as nn

OPTIMIZERS = {
    "sgd": lambda ps, lr: torch.optim.SGD(ps, lr=lr, momentum=0.9),
    "adam": lambda ps, lr: torch.optim.Adam(ps, lr=lr),
    "adamw": lambda ps, lr: torch.optim.AdamW(ps, lr=lr, weight_decay=1e-3),
}

SETTINGS = dict(optimizer="adamw", lr=2e-3, batch=128, epochs=8, hidden=32, seed=17, n_train=8000, n_val=3000)


def make_events(n, rng):
    """amount, gap since the last event, foreign flag, night flag"""
    T = 20
    y = (rng.random(n) < 0.04).astype(np.float32)
    amount = rng.normal(0, 1, (n, T))
    gap = rng.normal(0, 1, (n, T))
    foreign = (rng.random((n, T)) < 0.15).astype(float)
    night = (rng.random((n, T)) < 0.25).astype(float)
    start = rng.integers(5, 15, n)
    for i in np.flatnonzero(y):
        s = slice(start[i], start[i] + 5)
        amount[i, s] += 0.75
        gap[i, s] -= 0.75
        foreign[i, s] = np.maximum(foreign[i, s], rng.random(5) < 0.25)
    x = np.stack([amount, gap, foreign, night], 2).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class EventEncoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(4, hidden, batch_first=True)

    def forward(self, x):
        h, _ = self.gru(x)
        return torch.cat([h.mean(1), h.amax(1)], 1)


class CardModel(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.encoder = EventEncoder(hidden)
        self.score = nn.Linear(2 * hidden, 1)

    def forward(self, x):
        return self.score(self.encoder(x)).squeeze(1)


def report(model, criterion, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        loss = criterion(logits, y).item()
    flagged = logits > 0
    tp = (flagged & (y > 0.5)).sum().item()
    recall = tp / max(y.sum().item(), 1)
    precision = tp / max(flagged.sum().item(), 1)
    f1 = 2 * tp / max(flagged.sum().item() + y.sum().item(), 1)
    acc = (flagged == (y > 0.5)).float().mean().item()
    return loss, acc, precision, recall, f1


def run(s):
    torch.manual_seed(s["seed"])
    rng = np.random.default_rng(s["seed"])
    xt, yt = make_events(s["n_train"], rng)
    xv, yv = make_events(s["n_val"], rng)
    model = CardModel(s["hidden"])
    optimizer = OPTIMIZERS[s["optimizer"]](model.parameters(), s["lr"])
    criterion = nn.BCEWithLogitsLoss(pos_weight=((yt == 0).sum() / yt.sum()).sqrt())
    for epoch in range(s["epochs"]):
        model.train()
        perm = torch.randperm(len(xt))
        acc_loss = 0.0
        for idx in perm.split(s["batch"]):
            optimizer.zero_grad()
            loss = criterion(model(xt[idx]), yt[idx])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            acc_loss += loss.item() * len(idx)
        vl, acc, pr, rc, f1 = report(model, criterion, xv, yv)
        print(f"epoch {epoch + 1} train_loss={acc_loss / len(xt):.4f} val_loss={vl:.4f} acc={acc:.3f} "
              f"precision={pr:.3f} recall={rc:.3f} f1={f1:.3f}")


run(SETTINGS)
