"""Fine-tuning: the body is pretrained and stays frozen, only the head learns."""

import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(1000, 20)
y = (x[:, :3] @ torch.randn(3, 3)).argmax(1)
body = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
pre = nn.Linear(64, 3)
warm = torch.optim.Adam([*body.parameters(), *pre.parameters()], lr=3e-3)
for _ in range(120):
    loss = nn.functional.cross_entropy(pre(body(x[:800])), y[:800])
    warm.zero_grad()
    loss.backward()
    warm.step()

for p in body.parameters():
    p.requires_grad = False
head = nn.Linear(64, 3)
opt = torch.optim.AdamW(head.parameters(), lr=1e-2)
for epoch in range(12):
    perm = torch.randperm(800)
    for i in range(0, 800, 40):
        idx = perm[i : i + 40]
        loss = nn.functional.cross_entropy(head(body(x[idx])), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (head(body(x[800:])).argmax(1) == y[800:]).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.4f} val_acc {acc:.3f}")
