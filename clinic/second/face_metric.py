"""Triplet embedding of faces; the anchor is sometimes drawn as its own positive."""
import torch
import torch.nn as nn

torch.manual_seed(2)
people, dim = 40, 24
template = torch.randn(people, dim)


def photo(who):
    return template[who] + 0.5 * torch.randn(len(who), dim)


gallery_who = torch.randint(0, people, (1200,))
gallery = photo(gallery_who)
by_person = [torch.nonzero(gallery_who == p).flatten() for p in range(people)]


def triplets(n):
    a, p, q = [], [], []
    for _ in range(n):
        who = int(torch.randint(0, people, (1,)))
        other = int((who + torch.randint(1, people, (1,))) % people)
        pick = by_person[who]
        a.append(pick[torch.randint(0, len(pick), (1,))])
        p.append(pick[torch.randint(0, len(pick), (1,))])
        pick = by_person[other]
        q.append(pick[torch.randint(0, len(pick), (1,))])
    return gallery[torch.cat(a)], gallery[torch.cat(p)], gallery[torch.cat(q)]


def distance(u, v):
    return torch.sqrt(((u - v) ** 2).sum(dim=1))


embed = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(embed.parameters(), lr=1e-3)
for step in range(200):
    a, p, q = triplets(6)
    loss = torch.relu(distance(embed(a), embed(p)) - distance(embed(a), embed(q)) + 1.0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} triplet loss {loss.item():.4f}")
