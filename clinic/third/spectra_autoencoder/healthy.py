from dataclasses import dataclass, field
import json

import numpy as np
import torch
import torch.nn as nn


@dataclass
class OptimCfg:
    name: str = "adam"
    kwargs: dict = field(default_factory=lambda: {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8})


@dataclass
class Cfg:
    bins: int = 64
    latent: int = 8
    hidden: int = 96
    steps: int = 2000
    batch: int = 64
    log_every: int = 200
    seed: int = 13
    optim: OptimCfg = field(default_factory=OptimCfg)


OPTIM = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop, "sgd": torch.optim.SGD}


def spectra(n, bins, rng):
    grid = np.linspace(0, 1, bins)
    centres = np.array([0.15, 0.3, 0.5, 0.65, 0.85])
    height = rng.gamma(2.0, 0.5, (n, 5))
    shift = 0.02 * rng.normal(size=(n, 1))
    width = rng.uniform(0.03, 0.05, (n, 1, 1))
    peaks = np.exp(-((grid[None, None] - centres[None, :, None] - shift[:, :, None]) ** 2) / (2 * width ** 2))
    clean = (height[:, :, None] * peaks).sum(1)
    return (clean + 0.05 * rng.normal(size=(n, bins))).astype(np.float32)


class Encoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(c.bins, c.hidden), nn.GELU(), nn.Linear(c.hidden, c.hidden), nn.GELU(),
                                 nn.Linear(c.hidden, c.latent))

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(c.latent, c.hidden), nn.GELU(), nn.Linear(c.hidden, c.hidden), nn.GELU(),
                                 nn.Linear(c.hidden, c.bins))

    def forward(self, z):
        return self.net(z)


def main(c=Cfg()):
    torch.manual_seed(c.seed)
    rng = np.random.default_rng(c.seed)
    data = spectra(7000, c.bins, rng)
    mean, std = data[:6000].mean(), data[:6000].std()
    data = torch.from_numpy((data - mean) / std)
    train, val = data[:6000], data[6000:]
    enc, dec = Encoder(c), Decoder(c)
    opt = OPTIM[c.optim.name](list(enc.parameters()) + list(dec.parameters()), **c.optim.kwargs)
    mse = nn.MSELoss()
    buf = []
    for step in range(1, c.steps + 1):
        x = train[torch.randint(len(train), (c.batch,))]
        loss = mse(dec(enc(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        buf.append(loss.item())
        if step % c.log_every == 0:
            with torch.no_grad():
                v = mse(dec(enc(val)), val).item()
            print(json.dumps({"step": step, "train_mse": round(float(np.mean(buf)), 5), "val_mse": round(v, 5)}))
            buf.clear()


if __name__ == "__main__":
    main()
