# tissue type from an expression panel
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Cfg:
    genes: int = 200
    types: int = 5
    n_train: int = 400
    n_val: int = 1000
    hidden: tuple = (384, 384)
    dropout: float = 0.0
    weight_decay: float = 0.0
    lr: float = 0.02
    batch: int = 32
    epochs: int = 81
    noise: float = 1.0
    seed: int = 8


class Panel:
    def __init__(self, cfg):
        self.cfg = cfg
        self.g = torch.Generator().manual_seed(cfg.seed)
        self.load = torch.randn(6, cfg.genes, generator=self.g) * (torch.rand(6, cfg.genes, generator=self.g) < 0.3)
        self.centre = 1.2 * torch.randn(cfg.types, 6, generator=self.g)

    def draw(self, n):
        y = torch.randint(0, self.cfg.types, (n,), generator=self.g)
        z = self.centre[y] + 0.8 * torch.randn(n, 6, generator=self.g)
        x = z @ self.load / 2 + self.cfg.noise * torch.randn(n, self.cfg.genes, generator=self.g)
        wrong = torch.rand(n, generator=self.g) < 0.12
        y = torch.where(wrong, torch.randint(0, self.cfg.types, (n,), generator=self.g), y)
        return x, y


def mlp(cfg):
    dims = [cfg.genes, *cfg.hidden]
    mods = []
    for a, b in zip(dims, dims[1:]):
        mods += [nn.Linear(a, b), nn.ReLU(), nn.Dropout(cfg.dropout)]
    return nn.Sequential(*mods, nn.Linear(dims[-1], cfg.types))


def metrics(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
        return nn.functional.cross_entropy(out, y).item(), out.argmax(-1).eq(y).float().mean().item()


def main(cfg):
    torch.manual_seed(cfg.seed)
    panel = Panel(cfg)
    (xt, yt), (xv, yv) = panel.draw(cfg.n_train), panel.draw(cfg.n_val)
    net = mlp(cfg)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=0.9, nesterov=True, weight_decay=cfg.weight_decay)
    for ep in range(cfg.epochs):
        net.train()
        for ix in torch.randperm(cfg.n_train).split(cfg.batch):
            opt.zero_grad()
            nn.functional.cross_entropy(net(xt[ix]), yt[ix]).backward()
            opt.step()
        if ep % 4 == 0:
            (tl, ta), (vl, va) = metrics(net, xt, yt), metrics(net, xv, yv)
            print(f"{ep + 1:4d}  train {tl:.4f}/{ta:.3f}  val {vl:.4f}/{va:.3f}")


main(Cfg())
