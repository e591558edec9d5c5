"""Metric learning: embed sensor fingerprints so that the same device lands close together.
Evaluated on devices never seen during training."""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def world(n_ids, per_id, rng, mix):
    ident = rng.normal(size=(n_ids, 10))
    nuis = rng.normal(size=(n_ids, per_id, 14)) * 1.3
    latent = np.concatenate([np.repeat(ident[:, None], per_id, 1), nuis], -1)
    obs = np.tanh(latent @ mix[0]) @ mix[1] + 0.25 * rng.normal(size=(n_ids, per_id, 48))
    return torch.tensor(obs, dtype=torch.float32)


def distances(z):
    return (2 - 2 * z @ z.T).clamp_min(1e-6).sqrt()


def triplet_loss(z, ids, margin):
    d = distances(z)
    same = ids[:, None] == ids[None, :]
    pos = d.masked_fill(~same, 9.0).min(1).values
    neg = d.masked_fill(same, 9.0).min(1).values
    return F.relu(pos - neg + margin).mean(), (pos < neg).float().mean()


@torch.no_grad()
def recall_at_1(net, data):
    net.eval()
    z = net(data.flatten(0, 1))
    ids = torch.arange(len(data)).repeat_interleave(data.shape[1])
    d = distances(z)
    d.fill_diagonal_(9.0)
    return (ids[d.argmin(1)] == ids).float().mean().item()


class Embedder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(48, 192), nn.ReLU(), nn.Linear(192, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3200)
    parser.add_argument("--margin", type=float, default=0.25)
    parser.add_argument("--dim", type=int, default=24)
    cfg = parser.parse_args()
    torch.manual_seed(17)
    rng = np.random.default_rng(17)
    mix = (rng.normal(size=(24, 64)) / 4, rng.normal(size=(64, 48)) / 6)
    train, test = world(400, 12, rng, mix), world(120, 8, rng, mix)
    print("raw features recall@1:", round(recall_at_1(nn.Flatten(1), F.normalize(test, dim=-1)), 4))
    net = Embedder(cfg.dim)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(1, cfg.steps + 1):
        net.train()
        who = torch.tensor(rng.choice(400, 24, replace=False))
        shots = torch.tensor(rng.permuted(np.tile(np.arange(12), (24, 1)), axis=1)[:, :4])
        x = train[who[:, None], shots].flatten(0, 1)
        loss, frac = triplet_loss(net(x), who.repeat_interleave(4), cfg.margin)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"{step}\ttriplet {loss.item():.4f}\tordered {frac.item():.3f}\trecall@1 {recall_at_1(net, test):.4f}")
