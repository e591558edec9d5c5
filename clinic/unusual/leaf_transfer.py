#!/usr/bin/env python
"""Stage 1: pretrain an encoder on 12 leaf species.  Stage 2: body frozen, new linear head for 'diseased or not', gentle lr."""
import torch, torch.nn as nn, torch.nn.functional as F

def info(*a): print("[leaf]", *a, flush=True)

torch.manual_seed(2)
wg = torch.Generator().manual_seed(20)
MIX = torch.randn(6, 30, generator=wg) / 6 ** 0.5
CENT = torch.randn(12, 6, generator=wg) * 1.6
SICK = torch.randn(6, generator=wg); SICK /= SICK.norm()

def leaves(n):
    sp = torch.randint(12, (n,))
    lat = CENT[sp] + 0.6 * torch.randn(n, 6)
    p = torch.sigmoid(1.5 * (lat @ SICK))
    return torch.tanh(lat @ MIX) + 0.15 * torch.randn(n, 30), sp, torch.bernoulli(p), p

class Body(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(30, 64); s.b = nn.Linear(64, 48)
    def forward(s, x): return F.gelu(s.b(F.gelu(s.a(x))))

body, species_head = Body(), nn.Linear(48, 12)

# ---- stage 1
x, sp, _, _ = leaves(24000)
xv, spv, _, _ = leaves(3000)
o = torch.optim.Adam([*body.parameters(), *species_head.parameters()], lr=2e-3)
for ep in range(4):
    tot = 0
    for ix in torch.randperm(len(x)).split(128):
        l = F.cross_entropy(species_head(body(x[ix])), sp[ix])
        o.zero_grad(); l.backward(); o.step(); tot += l.item() * len(ix)
    with torch.no_grad(): z = species_head(body(xv)); vl = F.cross_entropy(z, spv)
    info(f"pretrain epoch {ep}: train {tot/len(x):.4f} val {vl:.4f} val acc {(z.argmax(1)==spv).float().mean():.4f}")

# ---- stage 2: only the head moves
body.requires_grad_(False).eval()
head = nn.Linear(48, 1)
nn.init.zeros_(head.weight); nn.init.zeros_(head.bias)
x, _, d, _ = leaves(8000)
xv, _, dv, pv = leaves(4000)
o = torch.optim.AdamW(head.parameters(), lr=2e-3, weight_decay=1e-3)
NE = 14
lrs = torch.optim.lr_scheduler.CosineAnnealingLR(o, NE * 125, eta_min=2e-5)
for ep in range(NE):
    tot = 0
    for ix in torch.randperm(len(x)).split(64):
        with torch.no_grad(): f = body(x[ix])
        l = F.binary_cross_entropy_with_logits(head(f).squeeze(1), d[ix])
        o.zero_grad(); l.backward(); o.step(); lrs.step(); tot += l.item() * len(ix)
    with torch.no_grad(): z = head(body(xv)).squeeze(1); vl = F.binary_cross_entropy_with_logits(z, dv)
    info(f"finetune epoch {ep}: train {tot/len(x):.4f} val {vl:.4f} val acc {((z>0).float()==dv).float().mean():.4f}")
