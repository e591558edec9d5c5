import torch
import torch.nn as nn

g = torch.Generator().manual_seed(6)
torch.manual_seed(6)
centers = 3.0 * torch.randn(8, 16, generator=g)
y_true = torch.randint(0, 8, (1600,), generator=g)
x = centers[y_true] + torch.randn(1600, 16, generator=g)
y = y_true.clone()
flip = torch.rand(1600, generator=g) < 0.3
y[flip] = torch.randint(0, 8, (int(flip.sum()),), generator=g)

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(20):
    perm = torch.randperm(1600, generator=g)
    for i in range(0, 1600, 80):
        idx = perm[i : i + 80]
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} train_acc {acc:.3f}")
