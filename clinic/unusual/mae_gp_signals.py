"""
Masked autoencoder on 1-D signals drawn from a Gaussian process.
Because the data are Gaussian, the best possible reconstruction of hidden patches is E[hidden | visible] (linear algebra).
"""
import torch, torch.nn as nn

torch.manual_seed(2)
N_PATCH, P = 12, 4
LEN = N_PATCH * P
KEEP = 6

t = torch.arange(LEN, dtype=torch.float64)
COV = 0.95 * torch.exp(-.5 * ((t[:, None] - t[None]) / 4.0) ** 2) + .05 * torch.eye(LEN, dtype=torch.float64)
CHOL = torch.linalg.cholesky(COV)
draw = lambda n, g: (torch.randn(n, LEN, generator=g, dtype=torch.float64) @ CHOL.T).float()


def optimal(x, keep):
    out = 0.
    for i in range(len(x)):
        vis = (keep[i][:, None] * P + torch.arange(P)).flatten()
        m = torch.ones(LEN, dtype=torch.bool); m[vis] = False; hid = m.nonzero().squeeze(1)
        pred = COV[hid][:, vis] @ torch.linalg.solve(COV[vis][:, vis], x[i, vis].double())
        out += ((pred - x[i, hid].double()) ** 2).mean().item()
    return out / len(x)


class MAE(nn.Module):
    def __init__(self, d=40, dd=32):
        super().__init__()
        layer = lambda w: nn.TransformerEncoderLayer(w, 4, 2 * w, dropout=0., activation="gelu", batch_first=True, norm_first=True)
        self.proj, self.pos = nn.Linear(P, d), nn.Parameter(.2 * torch.randn(N_PATCH, d))
        self.enc = nn.TransformerEncoder(layer(d), 2, enable_nested_tensor=False)
        self.link, self.mask, self.dpos = nn.Linear(d, dd), nn.Parameter(torch.zeros(dd)), nn.Parameter(.2 * torch.randn(N_PATCH, dd))
        self.dec, self.norm, self.out = nn.TransformerEncoder(layer(dd), 1, enable_nested_tensor=False), nn.LayerNorm(dd), nn.Linear(dd, P)

    def forward(self, x, keep):
        B = len(x); p = x.view(B, N_PATCH, P)
        r = torch.arange(B)[:, None]
        h = self.enc(self.proj(p[r, keep]) + self.pos[keep])
        full = self.mask.expand(B, N_PATCH, -1).clone()
        full[r, keep] = self.link(h)
        rec = self.out(self.norm(self.dec(full + self.dpos)))
        hidden = torch.ones(B, N_PATCH, dtype=torch.bool); hidden[r, keep] = False
        return ((rec - p) ** 2)[hidden].mean()


def random_keep(n, g): return torch.rand(n, N_PATCH, generator=g).argsort(1)[:, :KEEP]


g = torch.Generator().manual_seed(50)
val = draw(600, g); val_keep = random_keep(600, g)
best_possible = optimal(val, val_keep)
model = MAE()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=.01)
TOTAL = 900
sched = torch.optim.lr_scheduler.SequentialLR(opt, [torch.optim.lr_scheduler.LinearLR(opt, .02, 1., 50),
                                                   torch.optim.lr_scheduler.CosineAnnealingLR(opt, TOTAL - 50, 1e-5)], [50])
print(f"{sum(q.numel() for q in model.parameters())} parameters; optimum {best_possible:.4f}; predicting zero {1.0:.1f}")
meter = 0.
for step in range(1, TOTAL + 1):
    model.train()
    loss = model(draw(48, g), random_keep(48, g))
    opt.zero_grad(set_to_none=True); loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.)
    opt.step(); sched.step(); meter += loss.item()
    if step % 75 == 0:
        model.eval()
        with torch.no_grad(): v = model(val, val_keep).item()
        print(f"step {step:4d} masked-mse {meter / 75:.4f} val {v:.4f}"); meter = 0.
print(f"final val / optimum = {v / best_possible:.3f}")
