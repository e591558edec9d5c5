import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
SIM, VAR, COV = 25.0, 0.0, 1.0
mixing = torch.randn(6, 32)


def two_views(n):
    """The same hidden factors seen twice under noise."""
    factors = torch.randn(n, 6)
    base = torch.tanh(factors @ mixing / 2)
    return base + 0.2 * torch.randn(n, 32), base + 0.2 * torch.randn(n, 32)


encoder = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))


def off_diagonal(m):
    return m - torch.diag(torch.diag(m))


def objective(za, zb):
    invariance = F.mse_loss(za, zb)
    spread = sum(F.relu(1 - torch.sqrt(z.var(0) + 1e-4)).mean() for z in (za, zb))
    covariance = sum(off_diagonal(torch.cov(z.T)).pow(2).sum() / z.shape[1] for z in (za, zb))
    return SIM * invariance + VAR * spread + COV * covariance


optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3, weight_decay=1e-4)
va, vb = two_views(500)
for step in range(1, 501):
    encoder.train()
    a, b = two_views(64)
    loss = objective(encoder(a), encoder(b))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        encoder.eval()
        with torch.no_grad():
            za, zb = encoder(va), encoder(vb)
            val = objective(za, zb)
            nearest = torch.cdist(za, zb).argmin(1)
            top1 = (nearest == torch.arange(len(za))).float().mean()
        print(f"step {step} loss {loss.item():.4f} val_loss {val.item():.4f} retrieval {top1.item():.3f}")
