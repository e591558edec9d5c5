"""Identity embedding with batch-hard triplets; evaluated on identities never seen in training."""
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(4)
torch.manual_seed(4)
D_ID, D_NUIS, D_OBS = 6, 6, 32
M1 = rng.normal(size=(D_ID + D_NUIS, 48)) / np.sqrt(D_ID + D_NUIS)
M2 = rng.normal(size=(48, D_OBS)) / np.sqrt(48)


def render(ids, per):
    z = np.repeat(ids, per, axis=0)
    zj = z + .22 * rng.normal(size=z.shape)               # within-identity jitter
    nu = 1.0 * rng.normal(size=(len(z), D_NUIS))          # pose / light
    x = np.tanh(np.c_[zj, nu] @ M1) @ M2 + .02 * rng.normal(size=(len(z), D_OBS))
    lab = np.repeat(np.arange(len(ids)), per)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(lab), torch.tensor(zj, dtype=torch.float32)


N_ID, PER = 600, 12
Xtr, Ltr, _ = render(rng.normal(size=(N_ID, D_ID)), PER)
Xva, Lva, Zva = render(rng.normal(size=(60, D_ID)), 10)
mean, std = Xtr.mean(0), Xtr.std(0)
Xtr, Xva = (Xtr - mean) / std, (Xva - mean) / std


class Tower(nn.Module):
    def __init__(self, out=12):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(D_OBS, 96), nn.LeakyReLU(.1), nn.Linear(96, 96), nn.LeakyReLU(.1), nn.Linear(96, out))

    def forward(self, x):
        return self.f(x)


def pdist(e):
    sq = (e ** 2).sum(1)
    return (sq[:, None] + sq[None] - 2 * e @ e.T).clamp_min(1e-9).sqrt()


def batch_hard(e, lab):
    d = pdist(e)
    same = lab[:, None] == lab[None]
    pos = (d * same).amax(1)
    neg = (d + 1e6 * same).amin(1)
    return nn.functional.softplus(pos - neg).mean(), (pos < neg).float().mean().item()


@torch.no_grad()
def batch_all_loss(e, lab):
    d = pdist(e); same = lab[:, None] == lab[None]
    eye = torch.eye(len(lab), dtype=torch.bool)
    t = nn.functional.softplus(d[:, :, None] - d[:, None, :])
    w = (same & ~eye)[:, :, None] & ~same[:, None, :]
    return t[w].mean().item()


@torch.no_grad()
def recall1(e, lab):
    d = pdist(e); d.fill_diagonal_(1e9)
    return (lab[d.argmin(1)] == lab).float().mean().item()


net = Tower()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [600, 800], gamma=.3)
by_id = torch.arange(N_ID * PER).view(N_ID, PER)
sub = torch.arange(0, 600)                                  # 50 training identities, for comparison
P, K = 24, 4
hist = []
for it in range(1, 1001):
    who = torch.randperm(N_ID)[:P]
    pick = torch.stack([by_id[w][torch.randperm(PER)[:K]] for w in who]).flatten()
    loss, frac = batch_hard(net(Xtr[pick]), Ltr[pick])
    opt.zero_grad(); loss.backward(); opt.step(); sched.step()
    hist.append(loss.item())
    if it % 100 == 0:
        net.eval()
        with torch.no_grad():
            ev, et = net(Xva), net(Xtr[sub])
        print(f"it {it:5d}  hard-triplet {np.mean(hist[-100:]):.4f}  satisfied {frac:.2f}  "
              f"all-triplet train {batch_all_loss(et[::3], Ltr[sub][::3]):.4f} val {batch_all_loss(ev[::3], Lva[::3]):.4f}  recall@1 seen {recall1(et, Ltr[sub]):.3f} new {recall1(ev, Lva):.3f}")
        net.train()
print("recall@1 of raw pixels %.3f, of the true latents (oracle) %.3f" % (recall1(Xva, Lva), recall1(Zva, Lva)))
