# mini U-Net on blobs, loss = BCE + soft dice
import time, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(3)
S = 32

def blobs(n, g):
    yy, xx = torch.meshgrid(torch.arange(S).float(), torch.arange(S).float(), indexing="ij")
    img, msk = torch.zeros(n, 1, S, S), torch.zeros(n, 1, S, S)
    for i in range(n):
        for _ in range(int(torch.randint(1, 4, (1,), generator=g))):
            cx, cy = (torch.rand(2, generator=g) * 22 + 5).tolist()
            a, b = (torch.rand(2, generator=g) * 4 + 3).tolist()
            th = torch.rand(1, generator=g) * 3.1416
            u = (xx - cx) * th.cos() + (yy - cy) * th.sin()
            v = -(xx - cx) * th.sin() + (yy - cy) * th.cos()
            msk[i, 0] = torch.maximum(msk[i, 0], ((u / a) ** 2 + (v / b) ** 2 <= 1).float())
    img = msk + 0.4 * torch.randn(n, 1, S, S, generator=g)
    ramp = (xx / S - .5)[None, None] * torch.randn(n, 1, 1, 1, generator=g) * 0.6     # uneven illumination
    return img + ramp - 0.25, msk

def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(),
                         nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())

class UNet(nn.Module):
    def __init__(s, c=8):
        super().__init__()
        s.d1, s.d2, s.mid = block(1, c), block(c, 2 * c), block(2 * c, 4 * c)
        s.u2, s.u1 = nn.ConvTranspose2d(4 * c, 2 * c, 2, 2), nn.ConvTranspose2d(2 * c, c, 2, 2)
        s.c2, s.c1 = block(4 * c, 2 * c), block(2 * c, c)
        s.out = nn.Conv2d(c, 1, 1)
    def forward(s, x):
        a = s.d1(x); b = s.d2(F.max_pool2d(a, 2)); m = s.mid(F.max_pool2d(b, 2))
        b = s.c2(torch.cat([s.u2(m), b], 1)); a = s.c1(torch.cat([s.u1(b), a], 1))
        return s.out(a)

def soft_dice_loss(logit, t, eps=1.0):
    p = logit.sigmoid()
    i = (p * t).sum((1, 2, 3))
    return (1 - (2 * i + eps) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + eps)).mean()

def criterion(l, t): return F.binary_cross_entropy_with_logits(l, t) + soft_dice_loss(l, t)

def hard_dice(p, t):
    return ((2 * (p * t).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + t.sum((1, 2, 3)) + 1)).mean().item()

g = torch.Generator().manual_seed(11)
Xtr, Ytr = blobs(512, g); Xva, Yva = blobs(128, g)
model = UNet(); optim = torch.optim.Adam(model.parameters(), lr=1e-2)
EPOCHS, BS = 8, 16
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, EPOCHS * (512 // BS))
t0 = time.time()
for ep in range(EPOCHS):
    model.train(); run = []
    for idx in torch.randperm(512, generator=g).split(BS):
        x, y = Xtr[idx], Ytr[idx]
        if torch.rand(1, generator=g) < .5: x, y = x.flip(-1), y.flip(-1)
        optim.zero_grad(set_to_none=True)
        loss = criterion(model(x), y); loss.backward(); optim.step(); sched.step()
        run.append(loss.item())
    model.eval()
    with torch.no_grad():
        lv = model(Xva); vl = criterion(lv, Yva).item(); d = hard_dice((lv > 0).float(), Yva)
    print("[%2d/%d] loss=%.4f val_loss=%.4f val_dice=%.4f (%.1fs)" % (ep + 1, EPOCHS, sum(run) / len(run), vl, d, time.time() - t0))
thr = hard_dice((Xva + .25 > .5).float(), Yva)
print("reference: per-pixel threshold dice = %.4f, perfect = 1.0" % thr)
