import torch, torch.nn as nn, torch.nn.functional as F
from torch.amp import autocast, GradScaler
from torch.optim import AdamW
from torch.optim.lr_scheduler import OneCycleLR
cfg = dict(lr=3e-4, epochs=4, accum=4, clip=1.0)

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.attn, self.mlp = nn.LayerNorm(d), nn.MultiheadAttention(d, 4, batch_first=True), nn.Sequential(nn.Linear(d, 4*d), nn.GELU(), nn.Linear(4*d, d))
        self.drop = 0.1
    def forward(self, x):
        h = self.norm(x)
        x = x + self.attn(h, h, h)[0]
        return x + F.dropout(self.mlp(x), self.drop, self.training)

class LM(nn.Module):
    def __init__(self, v=100, d=32, n=2):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(n)])
        self.out = nn.Linear(d, v)
    def forward(self, ids):
        x = self.emb(ids)
        for b in self.blocks:
            x = b(x)
        return self.out(x)

def train(model, loader, cfg):
    opt = AdamW(model.parameters(), lr=cfg["lr"], weight_decay=0.1)
    sched = OneCycleLR(opt, max_lr=cfg["lr"], total_steps=cfg["epochs"] * len(loader) // cfg["accum"])
    scaler = GradScaler()
    for epoch in range(cfg["epochs"]):
        model.train()
        total = 0.0
        for i, (ids, tgt) in enumerate(loader):
            with autocast("cuda"):
                logits = model(ids)
                loss = F.cross_entropy(logits.flatten(0, 1), tgt.flatten()) / cfg["accum"]
            scaler.scale(loss).backward()
            if (i + 1) % cfg["accum"] == 0:
                scaler.unscale_(opt)
                torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
                scaler.step(opt)
                scaler.update()
                opt.zero_grad(set_to_none=True)
                sched.step()
            total += loss.detach()
        print(epoch, total / len(loader))

if __name__ == "__main__":
    data = torch.randint(0, 100, (256, 17))
    ds = torch.utils.data.TensorDataset(data[:, :-1], data[:, 1:])
    train(LM(), torch.utils.data.DataLoader(ds, 8, shuffle=True, drop_last=True), cfg)
