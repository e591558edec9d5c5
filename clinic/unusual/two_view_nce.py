"""
Contrastive pre-training between two noisy microphones that hear the same 5 latent sources.
Symmetric InfoNCE, batch 128 (so chance level is ln 128 = 4.852).
"""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, STEPS, LAT, DX, DY = 128, 1600, 5, 12, 10
NOISE = 0.6


class World:
    def __init__(self, seed):
        g = torch.Generator().manual_seed(seed)
        self.A = torch.randn(LAT, DX, generator=g) / math.sqrt(LAT) 
        self.B = torch.randn(LAT, DY, generator=g) / math.sqrt(LAT) 

    def pairs(self, n, gen=None):
        s = torch.randn(n, LAT, generator=gen)
        return (s @ self.A + NOISE * torch.randn(n, DX, generator=gen),
                s @ self.B + NOISE * torch.randn(n, DY, generator=gen))


class Tower(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, 24)
        self.mlp = nn.Sequential(nn.Linear(d, 96), nn.SiLU(), nn.Linear(96, 24))

    def forward(self, x):
        return self.lin(x) + self.mlp(x)


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.fx, self.fy = Tower(DX), Tower(DY)

    def forward(self, x, y):
        s = self.fx(x) @ self.fy(y).T / math.sqrt(24)
        t = torch.arange(len(x))
        return 0.5 * (F.cross_entropy(s, t) + F.cross_entropy(s.T, t)), (s.argmax(1) == t).float().mean()


def validate(m, chunks):
    m.eval()
    with torch.no_grad():
        out = [m(x, y) for x, y in chunks]
    m.train()
    return sum(o[0].item() for o in out) / len(out), sum(o[1].item() for o in out) / len(out)


def fit():
    torch.manual_seed(23)
    w = World(230)
    gv = torch.Generator().manual_seed(231)
    chunks = [w.pairs(BATCH, gv) for _ in range(30)]
    m = Contrast()
    opt = torch.optim.AdamW(m.parameters(), lr=2e-3, weight_decay=1e-4)
    sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS, eta_min=2e-5)
    hist = []
    for i in range(1, STEPS + 1):
        loss, top1 = m(*w.pairs(BATCH))
        opt.zero_grad()
        loss.backward()
        opt.step()
        sch.step()
        hist.append(loss.item())
        if i % 100 == 0:
            vl, vt = validate(m, chunks)
            print(f"{i:>6} | nce {sum(hist[-100:]) / 100:.4f} | val nce {vl:.4f} | val top-1 {vt:.3f} | MI bound {math.log(BATCH) - vl:.3f} nats")
    return m, w, chunks


if __name__ == "__main__":
    fitted = fit()
