"""Shared-trunk model: regression head + classification head. Trainer with gradient accumulation, checkpoint and resume."""
from __future__ import annotations
import os, tempfile
from typing import Dict
import torch
from torch import nn, Tensor


class Synthetic:
    """y_reg = f(x) + N(0, .3);  y_cls ~ Categorical(softmax(g(x)))   -> both floors are known"""
    SIGMA = 0.3

    def __init__(self, n: int, seed: int):
        wg = torch.Generator().manual_seed(2024)
        w = torch.randn(8, 4, generator=wg) / 8 ** .5
        c = torch.randn(4, 3, generator=wg) * 1.6
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 8, generator=g)
        h = self.x @ w
        self.f = torch.sin(1.5 * h[:, 0]) + h[:, 1] * h[:, 2] + .5 * h[:, 3]
        logp = (torch.tanh(h) @ c).log_softmax(-1)
        self.reg = self.f + self.SIGMA * torch.randn(n, generator=g)
        self.cls = torch.multinomial(logp.exp(), 1, generator=g).squeeze(1)
        self.ce_floor = nn.functional.nll_loss(logp, self.cls).item()
        self.best_acc = (logp.argmax(-1) == self.cls).float().mean().item()

    def batches(self, bs: int, g: torch.Generator):
        for i in torch.randperm(len(self.x), generator=g).split(bs):
            yield {"x": self.x[i], "reg": self.reg[i], "cls": self.cls[i]}


class TwoHead(nn.Module):
    def __init__(self, h: int = 64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU())
        self.reg, self.cls = nn.Linear(h, 1), nn.Linear(h, 3)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        z = self.trunk(x)
        return {"reg": self.reg(z).squeeze(-1), "cls": self.cls(z)}


class Trainer:
    ACC = 4

    def __init__(self, total_updates: int, ckpt: str):
        self.net = TwoHead()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=4e-3, weight_decay=1e-2)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, total_updates, eta_min=1e-4)
        self.ckpt, self.epoch, self.gen = ckpt, 0, torch.Generator().manual_seed(0)

    def losses(self, b):
        o = self.net(b["x"])
        return nn.functional.mse_loss(o["reg"], b["reg"]), nn.functional.cross_entropy(o["cls"], b["cls"]), o

    def save(self):
        torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "sched": self.sched.state_dict(),
                    "epoch": self.epoch, "gen": self.gen.get_state()}, self.ckpt)

    def resume(self):
        s = torch.load(self.ckpt)
        self.net.load_state_dict(s["net"]); self.opt.load_state_dict(s["opt"]); self.sched.load_state_dict(s["sched"])
        self.epoch = s["epoch"]; self.gen.set_state(s["gen"])
        print(f"-- resumed from {os.path.basename(self.ckpt)} at epoch {self.epoch}")

    def train_epoch(self, data: Synthetic):
        self.net.train(); self.opt.zero_grad(); m = c = 0.; n = 0
        for k, b in enumerate(data.batches(32, self.gen), 1):
            lm, lc, _ = self.losses(b)
            ((lm + lc) / self.ACC).backward()
            if k % self.ACC == 0:
                self.opt.step(); self.sched.step(); self.opt.zero_grad()
            m += lm.item(); c += lc.item(); n += 1
        self.epoch += 1
        return m / n, c / n

    @torch.no_grad()
    def evaluate(self, d: Synthetic):
        self.net.eval()
        lm, lc, o = self.losses({"x": d.x, "reg": d.reg, "cls": d.cls})
        return lm.item(), lc.item(), (o["cls"].argmax(-1) == d.cls).float().mean().item()

    def fit(self, tr, va, until):
        while self.epoch < until:
            m, c = self.train_epoch(tr)
            vm, vc, acc = self.evaluate(va)
            print(f"epoch {self.epoch:2d} | train mse {m:.4f} ce {c:.4f} | val mse {vm:.4f} ce {vc:.4f} acc {acc:.3f}")
            if self.epoch % 4 == 0: self.save()


if __name__ == "__main__":
    torch.manual_seed(0)
    tr, va = Synthetic(12288, 1), Synthetic(3000, 2)
    updates = 12 * (12288 // 32 // Trainer.ACC)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "last.pt")
        a = Trainer(updates, path); a.fit(tr, va, 8)
        b = Trainer(updates, path); b.resume(); b.fit(tr, va, 12)
    print(f"floors: mse {Synthetic.SIGMA**2:.4f}, ce {va.ce_floor:.4f}, acc {va.best_acc:.3f}")
