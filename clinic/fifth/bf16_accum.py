import contextlib
import random
import torch
import torch.nn as nn

random.seed(12)
torch.manual_seed(12)
MICRO, ACCUM, UPDATES = 8, 4, 900
ctx = lambda: torch.autocast("cpu", dtype=torch.bfloat16)


def task(n):
    """Reverse-and-map: output is the input reversed through a fixed permutation, with 5 % typos in the input."""
    x = torch.randint(3, 23, (n, 10))
    y = PERM[x.flip(1)]
    typo = torch.rand(n, 10) < .05
    return torch.where(typo, torch.randint(3, 23, (n, 10)), x), y


PERM = torch.cat([torch.arange(3), 3 + torch.randperm(20)])


class Seq2Seq(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.tok = nn.Embedding(23, d)
        self.pos = nn.Embedding(10, d)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 128, 0.0, batch_first=True, norm_first=True), 2, enable_nested_tensor=False)
        self.head = nn.Linear(d, 23)

    def forward(self, x):
        return self.head(self.blocks(self.tok(x) + self.pos(torch.arange(x.shape[1]))))


model = Seq2Seq()
opt = torch.optim.AdamW(model.parameters(), lr=1.5e-3, betas=(.9, .98))
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 3e-3, total_steps=UPDATES)
vx, vy = task(1000)
micro = 0
for upd in range(1, UPDATES + 1):
    shown = 0.0
    for _ in range(ACCUM):
        x, y = task(MICRO)
        with ctx():
            loss = nn.functional.cross_entropy(model(x).reshape(-1, 23), y.reshape(-1)) / ACCUM
        loss.backward()
        micro += 1
        shown += loss.item()
        if micro % 40 == 0:
            print(f"micro-batch {micro}: loss/accum = {loss.item():.4f}")
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
    sched.step()
    if upd % 100 == 0:
        model.eval()
        with torch.no_grad(), ctx():
            a = (model(vx).argmax(-1) == vy).float().mean().item()
        model.train()
        print(f"update {upd}: loss = {shown:.4f} token accuracy = {a:.4f}")
