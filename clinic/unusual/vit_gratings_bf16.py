import math
from dataclasses import dataclass
import torch, torch.nn as nn, torch.nn.functional as F

@dataclass
class Cfg:
    img: int = 16; patch: int = 4; dim: int = 32; depth: int = 2; heads: int = 4
    classes: int = 6; lr: float = 2e-3; wd: float = 0.05; warmup: int = 50; steps: int = 400; bs: int = 64
    noise: float = 1.0; seed: int = 21
C = Cfg(); torch.manual_seed(C.seed)

# ---- data: gratings at 6 orientations, random phase, white noise -------------------------------------------------
ii, jj = torch.meshgrid(torch.arange(16.), torch.arange(16.), indexing="ij")
W = 2 * math.pi / 5.0
ang = torch.arange(C.classes) * math.pi / C.classes
carrier = W * (ii[None] * ang.cos()[:, None, None] + jj[None] * ang.sin()[:, None, None])
def sample(n, g):
    y = torch.randint(0, C.classes, (n,), generator=g)
    ph = torch.rand(n, 1, 1, generator=g) * 2 * math.pi
    return (torch.sin(carrier[y] + ph) + C.noise * torch.randn(n, 16, 16, generator=g))[:, None], y
g = torch.Generator().manual_seed(5)
xtr, ytr = sample(12800, g); xva, yva = sample(1500, g)
def oracle(x):   # quadrature energy detector (near the Bayes rule for unknown phase)
    f = x.flatten(1); s = f @ carrier.sin().flatten(1).T; c = f @ carrier.cos().flatten(1).T
    return (s ** 2 + c ** 2).argmax(1)

class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d); self.h = h
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(self, x):
        B, N, D = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(B, N, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, D))
        return x + self.mlp(self.n2(x))
class ViT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed = nn.Conv2d(1, c.dim, c.patch, c.patch)
        self.pos = nn.Parameter(torch.randn(1, (c.img // c.patch) ** 2, c.dim) * .02)
        self.blocks = nn.Sequential(*[Block(c.dim, c.heads) for _ in range(c.depth)])
        self.norm, self.head = nn.LayerNorm(c.dim), nn.Linear(c.dim, c.classes)
    def forward(self, x):
        t = self.embed(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(t + self.pos)).mean(1))

vit = ViT(C)
decay = [p for p in vit.parameters() if p.ndim == 2]; rest = [p for p in vit.parameters() if p.ndim != 2]
opt = torch.optim.AdamW([dict(params=decay, weight_decay=C.wd), dict(params=rest, weight_decay=0.)], lr=C.lr, betas=(.9, .98))
def factor(s): return (s + 1) / C.warmup if s < C.warmup else .5 * (1 + math.cos(math.pi * (s - C.warmup) / (C.steps - C.warmup + 1)))
sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)

@torch.no_grad()
def validate():
    vit.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16): z = vit(xva)
    z = z.float(); vit.train()
    return F.cross_entropy(z, yva).item(), (z.argmax(1) == yva).float().mean().item()

step = 0; acc_loss = 0.
while step < C.steps:
    for b in torch.randperm(len(xtr), generator=g).split(C.bs):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = vit(xtr[b])
        loss = F.cross_entropy(logits.float(), ytr[b])
        opt.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(vit.parameters(), 1.0)
        opt.step(); sched.step(); step += 1; acc_loss += loss.item()
        if step % 50 == 0:
            vl, va = validate()
            print(f"step {step:4d} | lr {sched.get_last_lr()[0]:.2e} | train {acc_loss/50:.4f} | val {vl:.4f} | val acc {va:.4f}"); acc_loss = 0.
        if step >= C.steps: break
print(f"oracle acc {(oracle(xva) == yva).float().mean():.4f}   chance {1/C.classes:.3f}")
