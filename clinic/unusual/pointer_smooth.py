# tiny encoder: first token is an address, answer is the symbol stored there.
# label smoothing 0.1, and a warm-up that lasts 40 % of the run (pre-LN would need less, we stay careful)
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import logging, sys

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("pointer")

torch.manual_seed(5)
SLOTS, SYMS, DIM = 6, 8, 32
STEPS, WARM, PEAK, BATCH, EPS = 1000, 400, 3e-3, 64, 0.1
gen_train = torch.Generator().manual_seed(51)
gen_valid = torch.Generator().manual_seed(52)


def make(n, gen):
    addr = torch.randint(SLOTS, (n,), generator=gen)
    mem = torch.randint(SYMS, (n, SLOTS), generator=gen)
    return addr, mem, mem[torch.arange(n), addr]


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.h = h

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)
        x = x + self.proj(a)
        return x + self.ff(self.n2(x))


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.addr = nn.Embedding(SLOTS, DIM)
        self.sym = nn.Embedding(SYMS, DIM)
        self.pos = nn.Embedding(SLOTS, DIM)
        for e in (self.addr, self.sym, self.pos):
            nn.init.normal_(e.weight, std=0.5)
        self.blocks = nn.ModuleList(Block(DIM, 4) for _ in range(2))
        self.norm = nn.LayerNorm(DIM)
        self.out = nn.Linear(DIM, SYMS)

    def forward(self, addr, mem):
        x = torch.cat([self.addr(addr)[:, None], self.sym(mem) + self.pos.weight], 1)
        for b in self.blocks:
            x = b(x)
        return self.out(self.norm(x[:, 0]))


def lr_at(s):
    if s < WARM:
        return (s + 1) / WARM
    return 0.5 * (1 + math.cos(math.pi * (s - WARM) / (STEPS - WARM))) + 0.01


net = Reader()
optim = torch.optim.AdamW(net.parameters(), lr=PEAK, betas=(0.9, 0.98), weight_decay=0.01)
sched = torch.optim.lr_scheduler.LambdaLR(optim, lr_at)
va, vm, vy = make(1000, gen_valid)
for s in range(STEPS):
    a, m, y = make(BATCH, gen_train)
    loss = F.cross_entropy(net(a, m), y, label_smoothing=EPS)
    optim.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optim.step()
    sched.step()
    if s % 50 == 49:
        net.eval()
        with torch.no_grad():
            z = net(va, vm)
            log.info("step=%d train=%.4f val=%.4f val_acc=%.4f lr=%.6f", s + 1, loss.item(),
                     F.cross_entropy(z, vy, label_smoothing=EPS).item(), (z.argmax(1) == vy).float().mean().item(), sched.get_last_lr()[0])
        net.train()
