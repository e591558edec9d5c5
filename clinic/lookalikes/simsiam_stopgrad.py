import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
basis = torch.randn(10, 24)


def views(n):
    z = torch.randn(n, 10)
    x = z @ basis
    return x + 1.0 * torch.randn_like(x), x + 1.0 * torch.randn_like(x)


encoder = nn.Sequential(
    nn.Linear(24, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 48), nn.BatchNorm1d(48, affine=False)
)
predictor = nn.Sequential(nn.Linear(48, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 48))
optimizer = torch.optim.SGD(
    [*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9, weight_decay=1e-4
)


def D(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


for step in range(600):
    x1, x2 = views(128)
    z1, z2 = encoder(x1), encoder(x2)
    p1, p2 = predictor(z1), predictor(z2)
    loss = 0.5 * D(p1, z2) + 0.5 * D(p2, z1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        spread = F.normalize(z1.detach(), dim=1).std(0).mean().item()
        print(f"step {step} loss {loss.item():.4f} std {spread:.4f} (ideal {48 ** -0.5:.4f})")
