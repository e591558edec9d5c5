import math, json
import numpy as np
import torch
from torch import nn

# VAE on 12 correlated sensors driven by 3 hidden causes; KL weight ramps 0 -> 1 over the first 700 updates.

class SensorVAE(nn.Module):
    def __init__(self, d=12, k=4, h=48):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.Tanh())
        self.mu, self.lv = nn.Linear(h, k), nn.Linear(h, k)
        self.skip = nn.Linear(d, k, bias=False)
        self.dec = nn.Sequential(nn.Linear(k, h), nn.Tanh(), nn.Linear(h, d))
        self.dskip = nn.Linear(k, d, bias=False)
        self.log_sigma = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h) + self.skip(x), self.lv(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        xr = self.dec(z) + self.dskip(z)
        nll = (0.5 * ((x - xr) / self.log_sigma.exp()) ** 2 + self.log_sigma + 0.5 * math.log(2 * math.pi)).sum(1).mean()
        kl = 0.5 * (mu ** 2 + lv.exp() - 1 - lv).sum(1).mean()
        return nll, kl


def build(seed=12):
    r = np.random.default_rng(seed)
    W = r.normal(size=(12, 3)) * 0.8
    def draw(n):
        return torch.tensor(r.normal(size=(n, 3)) @ W.T + 0.4 * r.normal(size=(n, 12)), dtype=torch.float32)
    return W, draw(16000), draw(4000)


def run():
    torch.manual_seed(12)
    W, tr, va = build()
    net = SensorVAE()
    steps, ramp, bs = 1920, 700, 128
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    sch = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=2e-3, total_steps=steps, pct_start=0.1)
    order = iter(())
    for s in range(steps):
        try:
            ix = next(order)
        except StopIteration:
            order = iter(torch.randperm(len(tr)).split(bs))
            ix = next(order)
        beta = min(1.0, s / ramp)
        nll, kl = net(tr[ix])
        loss = nll + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        sch.step()
        if (s + 1) % 80 == 0:
            net.eval()
            with torch.no_grad():
                vn, vk = net(va)
            net.train()
            print(json.dumps({"step": s + 1, "beta": round(beta, 3), "loss": round(loss.item(), 3), "nll": round(nll.item(), 3), "kl": round(kl.item(), 3),
                              "val_neg_elbo": round((vn + vk).item(), 3), "sigma": round(net.log_sigma.exp().item(), 3)}))
    return net, W, va


if __name__ == "__main__":
    result = run()
