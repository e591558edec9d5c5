# %% [markdown]
# # Slot tagging on toy commands
# Tokens get a slot label that depends on the token and on the last trigger word before it.

# %%
import json

import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(42)
torch.manual_seed(42)

# %%
VOCAB, TRIGGERS, SLOTS, LEN = 60, 4, 8, 16
table = rng.integers(0, SLOTS, size=(TRIGGERS + 1, VOCAB))


def commands(n):
    toks = rng.integers(TRIGGERS, VOCAB, size=(n, LEN))
    trig = rng.random((n, LEN)) < 0.15
    toks[trig] = rng.integers(0, TRIGGERS, size=trig.sum())
    tags = np.zeros_like(toks)
    state = np.full(n, TRIGGERS)
    for j in range(LEN):
        is_trig = toks[:, j] < TRIGGERS
        state = np.where(is_trig, toks[:, j], state)
        tags[:, j] = table[state, toks[:, j]]
    flip = rng.random(tags.shape) < 0.03
    tags[flip] = rng.integers(0, SLOTS, size=flip.sum())
    return torch.from_numpy(toks), torch.from_numpy(tags)


X, Y = commands(4000)
Xv, Yv = commands(800)
X.shape, Xv.shape


# %%
class SlotTagger(nn.Module):
    def __init__(self, dim=32, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.norm = nn.LayerNorm(hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, SLOTS))

    def forward(self, x):
        h, _ = self.lstm(self.emb(x))
        return self.mlp(self.norm(h))


tagger = SlotTagger()
ce = nn.CrossEntropyLoss()
opt = torch.optim.Adam(tagger.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.3)

# %%
EPOCHS, BS = 12, 80
log = []
for epoch in range(EPOCHS):
    tagger.train()
    order = torch.randperm(len(X))
    running = 0.0
    for k in range(0, len(X), BS):
        sel = order[k:k + BS]
        loss = ce(tagger(X[sel]).flatten(0, 1), Y[sel].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
        opt.step()
        running += loss.item()
    sched.step()
    tagger.eval()
    with torch.no_grad():
        out = tagger(Xv)
        v = ce(out.flatten(0, 1), Yv.flatten()).item()
        a = (out.argmax(-1) == Yv).float().mean().item()
    log.append({"epoch": epoch, "train_loss": running / (len(X) / BS), "val_loss": v, "val_acc": a})
    print(json.dumps({k: round(x, 4) for k, x in log[-1].items()}))

# %%
best = min(log, key=lambda r: r["val_loss"])
print("best epoch", best["epoch"], "val_loss", round(best["val_loss"], 4))
