"""Two-tower retrieval: match a user profile with the item the user clicked (in-batch negatives)."""
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

hp = SimpleNamespace(
    seed=31, n_items=400, latent=6, user_feats=24, item_feats=20, dim=24,
    batch=64, steps=1200, tower_lr=2e-3, emb_lr=1e-2, temperature=0.1, log_every=100,
)

torch.manual_seed(hp.seed)
rng = np.random.default_rng(hp.seed)


def make_pairs(n):
    u = rng.normal(size=(n, hp.latent))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    aff = u @ ITEM_LATENT.T + 0.25 * rng.gumbel(size=(n, hp.n_items)) * 0.3
    clicked = aff.argmax(1)
    profile = np.tanh(u @ USER_MAP * 1.5) + 0.1 * rng.normal(size=(n, hp.user_feats))
    return torch.tensor(profile, dtype=torch.float32), torch.tensor(clicked)


ITEM_LATENT = rng.normal(size=(hp.n_items, hp.latent))
ITEM_LATENT /= np.linalg.norm(ITEM_LATENT, axis=1, keepdims=True)
USER_MAP = rng.normal(size=(hp.latent, hp.user_feats))
ITEM_MAP = rng.normal(size=(hp.latent, hp.item_feats))
item_table = torch.tensor(np.sin(ITEM_LATENT @ ITEM_MAP) + 0.3 * rng.normal(size=(hp.n_items, hp.item_feats)),
                          dtype=torch.float32)
train_u, train_i = make_pairs(12000)
valid_u, valid_i = make_pairs(1000)


class UserTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(hp.user_feats, 64), nn.ReLU(), nn.Linear(64, hp.dim))

    def forward(self, profile):
        return F.normalize(self.net(profile), dim=-1)


class ItemTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.ident = nn.Embedding(hp.n_items, 4)
        self.net = nn.Sequential(nn.Linear(hp.item_feats + 4, 64), nn.ReLU(), nn.Linear(64, hp.dim))

    def forward(self, ids):
        feats = torch.cat([item_table[ids], self.ident(ids)], dim=-1)
        return F.normalize(self.net(feats), dim=-1)


user_tower, item_tower = UserTower(), ItemTower()


def info_nce(profile, ids):
    sim = user_tower(profile) @ item_tower(ids).T / hp.temperature
    same = (ids[:, None] == ids[None, :]) & ~torch.eye(len(ids), dtype=torch.bool)
    sim = sim.masked_fill(same, -1e4)
    return F.cross_entropy(sim, torch.arange(len(ids)))


@torch.no_grad()
def score():
    loss = torch.stack([info_nce(valid_u[k:k + hp.batch], valid_i[k:k + hp.batch])
                        for k in range(0, 960, hp.batch)]).mean().item()
    ranks = (user_tower(valid_u) @ item_tower(torch.arange(hp.n_items)).T).argsort(1, descending=True)
    hit10 = (ranks[:, :10] == valid_i[:, None]).any(1).float().mean().item()
    return loss, hit10


groups = [
    {"params": user_tower.parameters(), "lr": hp.tower_lr},
    {"params": item_tower.ident.parameters(), "lr": hp.emb_lr},
]
optimizer = torch.optim.Adam(groups)

acc = 0.0
for step in range(1, hp.steps + 1):
    pick = torch.randint(0, len(train_u), (hp.batch,))
    loss = info_nce(train_u[pick], train_i[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    acc += loss.item()
    if step % hp.log_every == 0:
        vl, h10 = score()
        print(f"step {step:5d} | train {acc / hp.log_every:.4f} | valid {vl:.4f} | hit@10 {h10:.3f}")
        acc = 0.0
