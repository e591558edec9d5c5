# keyword spotting, server model -> watch model.  temperature 4, 80 % soft targets
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader

T, ALPHA = 4.0, 0.8
torch.manual_seed(88)
C, D = 8, 20
proto = torch.randn(C, 2, D) * 0.75          # two pronunciations per keyword


def utterances(n):
    y = torch.randint(C, (n,))
    k = torch.randint(2, (n,))
    return proto[y, k] + torch.randn(n, D), y


def bayes(x):
    ll = -0.5 * ((x[:, None, None] - proto) ** 2).sum(-1)
    return ll.logsumexp(-1)


train, val = utterances(24000), utterances(5000)
dl = DataLoader(TensorDataset(*train), batch_size=128, shuffle=True, drop_last=True)


def score(m):
    m.eval()
    with torch.no_grad():
        z = m(val[0])
    m.train()
    return F.cross_entropy(z, val[1]).item(), (z.argmax(1) == val[1]).float().mean().item()


teacher = nn.Sequential(nn.Linear(D, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, C))
opt = torch.optim.AdamW(teacher.parameters(), lr=2e-3, weight_decay=1e-2)
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 6 * len(dl))
print("--- teacher")
for ep in range(6):
    s = 0.0
    for x, y in dl:
        loss = F.cross_entropy(teacher(x), y)
        opt.zero_grad(); loss.backward(); opt.step(); sch.step()
        s += loss.item()
    print("ep", ep, "train %.4f" % (s / len(dl)), "val %.4f acc %.4f" % score(teacher))

teacher.eval().requires_grad_(False)
student = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, C))
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
EP = 8
sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EP * len(dl))
print("--- student")
for ep in range(EP):
    ks = hs = n = 0
    for x, y in dl:
        with torch.no_grad():
            tz = teacher(x)
        sz = student(x)
        soft = F.kl_div(F.log_softmax(sz / T, 1), F.log_softmax(tz / T, 1), reduction="batchmean", log_target=True) * T * T
        hard = F.cross_entropy(sz, y)
        loss = ALPHA * soft + (1 - ALPHA) * hard
        opt.zero_grad(); loss.backward(); opt.step(); sch.step()
        ks += soft.item(); hs += hard.item(); n += 1
    print("ep", ep, "loss %.4f  soft %.4f  hard %.4f" % (ALPHA * ks / n + (1 - ALPHA) * hs / n, ks / n, hs / n), "| val ce %.4f acc %.4f" % score(student))
bz = bayes(val[0])
print("bayes rule on val: ce %.4f acc %.4f" % (F.cross_entropy(bz, val[1]).item(), (bz.argmax(1) == val[1]).float().mean().item()))
