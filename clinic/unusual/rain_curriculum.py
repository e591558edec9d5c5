"""Rain gauge totaliser.

An LSTM reads (tip size in mm, valid?) pairs and must report the total of the valid tips.
Curriculum: windows of up to T tips get longer and the reference gauge gets noisier, so the loss goes UP from stage to stage on purpose.
"""
import torch
import torch.nn as nn

torch.manual_seed(4242)

STAGES = [  # (steps, longest window, sd of the reference gauge in mm)
    (450, 6, 0.5),
    (450, 10, 1.0),
    (500, 16, 1.6),
    (600, 24, 2.4),
]


def windows(n, length, sd):
    tips = torch.rand(n, length) * 2
    ok = (torch.rand(n, length) < 0.4).float()
    total = (tips * ok).sum(1)
    return torch.stack([tips - 1, ok - 0.4], -1), total + sd * torch.randn(n), total


class Totaliser(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.LSTM(2, hidden, batch_first=True)
        self.read = nn.Linear(hidden, 1)
        with torch.no_grad():                        # remember by default
            for b in (self.rnn.bias_ih_l0, self.rnn.bias_hh_l0):
                b.zero_()
            self.rnn.bias_ih_l0[hidden:2 * hidden] = 3.0

    def forward(self, x):
        _, (h, c) = self.rnn(x)
        return self.read(c[0]).squeeze(1)            # the cell is the accumulator


net = Totaliser()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
total_steps = sum(s[0] for s in STAGES)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: 1.0 if k < 0.6 * total_steps else max(0.03, 1 - (k / total_steps - 0.6) / 0.4))

k = 0
for si, (steps, length, sd) in enumerate(STAGES):
    xv, yv, clean = windows(3000, length, sd)
    acc, norms = [], []
    for _ in range(steps):
        cur = int(torch.randint(4, length + 1, (1,)))        # keep seeing the short ones too
        x, y, _ = windows(64, cur, sd)
        loss = ((net(x) - y) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        norms.append(float(nn.utils.clip_grad_norm_(net.parameters(), 1.0)))
        opt.step()
        sched.step()
        acc.append(loss.item())
        k += 1
        if k % 50 == 0:
            with torch.no_grad():
                p = net(xv)
            print(f"stage {si + 1} (T={length:2d}) step {k:4d}  mse {sum(acc[-50:]) / len(acc[-50:]):7.3f}  val_mse {((p - yv) ** 2).mean():7.3f}"
                  f"  val_rmse_vs_true_total {((p - clean) ** 2).mean().sqrt():.3f}  grad_norm {sum(norms[-50:]) / len(norms[-50:]):.2f}")
