"""Autoencoder that compresses synthetic emission spectra to a small code."""
import argparse
import json

import torch
from torch import nn


def spectra(n, seed, bins=64, sources=6):
    lib = torch.Generator().manual_seed(1234)
    grid = torch.linspace(0, 1, bins)
    centres = torch.rand(sources, 3, generator=lib)
    widths = 0.02 + 0.06 * torch.rand(sources, 3, generator=lib)
    lines = torch.exp(-0.5 * ((grid - centres[..., None]) / widths[..., None]) ** 2).sum(1)
    g = torch.Generator().manual_seed(seed)
    mix = torch.rand(n, sources, generator=g) ** 2
    clean = mix @ lines
    clean = clean / (1 + 0.3 * clean)
    noisy = clean + 0.03 * torch.randn(n, bins, generator=g)
    return noisy


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=0.02)
        nn.init.zeros_(m.bias)


class Encoder(nn.Module):
    def __init__(self, bins, code):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(bins, 64), nn.ReLU(),
            nn.Linear(64, 48), nn.ReLU(),
            nn.Linear(48, 32), nn.ReLU(),
            nn.Linear(32, code),
        )

    def forward(self, x):
        return self.layers(x)


class Decoder(nn.Module):
    def __init__(self, bins, code):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(code, 32), nn.ReLU(),
            nn.Linear(32, 48), nn.ReLU(),
            nn.Linear(48, 64), nn.ReLU(),
            nn.Linear(64, bins),
        )

    def forward(self, z):
        return self.layers(z)


def reconstruction_loss(enc, dec, x):
    return ((dec(enc(x)) - x) ** 2).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=1500)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--code", type=int, default=8)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    train, val = spectra(5000, seed=1), spectra(1000, seed=2)
    mean = train.mean(0)
    scale = (train - mean).std()
    train, val = (train - mean) / scale, (val - mean) / scale

    enc, dec = Encoder(train.shape[1], args.code), Decoder(train.shape[1], args.code)
    enc.apply(init_weights)
    dec.apply(init_weights)
    params = list(enc.parameters()) + list(dec.parameters())
    opt = torch.optim.SGD(params, lr=args.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.steps)

    step = 0
    while step < args.steps:
        batch = train[torch.randint(0, len(train), (args.batch,))]
        loss = reconstruction_loss(enc, dec, batch)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        sched.step()
        step += 1
        if step % 100 == 0:
            with torch.no_grad():
                val_loss = reconstruction_loss(enc, dec, val).item()
            print(json.dumps({"step": step, "train_loss": round(loss.item(), 5), "val_loss": round(val_loss, 5),
                              "explained": round(1 - val_loss / val.var().item(), 4)}))


if __name__ == "__main__":
    main()
