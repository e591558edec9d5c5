import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
mix = torch.randn(30, 30) / 5


def domain(n, shift):
    x = torch.randn(n, 30) + shift
    h = torch.tanh(x @ mix)
    return x, (h[:, :3] + 0.5 * h[:, 3:6]).argmax(1)


body = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
head = nn.Linear(64, 3)
for p in body.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(head.parameters(), lr=2e-3)
X, Y = domain(2000, 0.3)
Xv, Yv = domain(500, 0.3)
for epoch in range(12):
    if epoch == 4:
        print("unfreeze the upper layer")
        for p in body[2].parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": body[2].parameters(), "lr": 1e-3})
    if epoch == 8:
        print("unfreeze everything")
        for p in body[0].parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": body[0].parameters(), "lr": 5e-4})
    for b in torch.randperm(2000).split(50):
        loss = F.cross_entropy(head(body(X[b])), Y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = head(body(Xv))
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {F.cross_entropy(out, Yv):.4f} val_acc {(out.argmax(1) == Yv).float().mean():.3f}")
