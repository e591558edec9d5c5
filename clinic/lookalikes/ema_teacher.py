"""Mean teacher: a few labels, many unlabelled points; the teacher is an average of the student."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def moons(n):
    y = torch.randint(0, 2, (n,))
    t = torch.rand(n) * 3.1416
    x = torch.stack([t.cos(), t.sin()], 1)
    x[y == 1] = torch.tensor([1.0, 0.5]) - x[y == 1]
    return x + 0.1 * torch.randn(n, 2), y


student = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)

x_lab, y_lab = moons(60)
x_unl, _ = moons(2000)
x_val, y_val = moons(500)
optimizer = torch.optim.Adam(student.parameters(), lr=2e-3)
for step in range(1, 501):
    xu = x_unl[torch.randint(0, 2000, (64,))]
    sup = F.cross_entropy(student(x_lab + 0.05 * torch.randn_like(x_lab)), y_lab)
    with torch.no_grad():
        goal = F.softmax(teacher(xu + 0.1 * torch.randn_like(xu)), 1)
    cons = F.mse_loss(F.softmax(student(xu + 0.1 * torch.randn_like(xu)), 1), goal)
    loss = sup + min(1.0, step / 200) * 5 * cons
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for pt, ps in zip(teacher.parameters(), student.parameters(), strict=True):
            pt.mul_(0.99).add_(ps, alpha=0.01)
    if step % 50 == 0:
        with torch.no_grad():
            out = teacher(x_val)
        print(f"step {step} loss {loss.item():.4f} sup {sup.item():.4f} cons {cons.item():.5f} "
              f"val_loss {F.cross_entropy(out, y_val).item():.4f} val_acc {(out.argmax(1) == y_val).float().mean():.3f}")
