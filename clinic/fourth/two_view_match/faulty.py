"""Match sensor readings with their spectrogram-like counterparts by a symmetric contrastive objective."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(33)
LATENT, DIM_A, DIM_B, EMB = 4, 10, 16, 16
MIX_A = torch.randn(LATENT, DIM_A)
PAIRS = torch.triu_indices(LATENT, LATENT)
MIX_B = torch.randn(PAIRS.shape[1], DIM_B) / 2


def sample(n):
    z = torch.randn(n, LATENT)
    a = z @ MIX_A + 0.15 * torch.randn(n, DIM_A)
    quad = z[:, PAIRS[0]] * z[:, PAIRS[1]]
    b = quad @ MIX_B + 0.15 * torch.randn(n, DIM_B)
    return a / 2, b / 2


class Tower(nn.Module):
    def __init__(self, d_in, hidden=96, d_out=EMB):
        super().__init__()
        self.fc1 = nn.Linear(d_in, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, d_out)
        self.drop = nn.Dropout(0.02)

    def forward(self, x):
        x = self.fc1(x)
        x = self.drop(self.fc2(x))
        return F.normalize(self.fc3(x), dim=-1)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Tower(DIM_A), Tower(DIM_B)
        self.log_temp = nn.Parameter(torch.tensor(2.0))

    def forward(self, xa, xb):
        return self.log_temp.exp().clamp(max=50) * self.a(xa) @ self.b(xb).T


def info_nce(sim):
    t = torch.arange(len(sim))
    return 0.5 * (F.cross_entropy(sim, t) + F.cross_entropy(sim.T, t))


a_train, b_train = sample(6400)
a_val, b_val = sample(1024)
net = Matcher()
decay = [p for p in net.parameters() if p.ndim > 1]
rest = [p for p in net.parameters() if p.ndim <= 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 1e-3}, {"params": rest, "weight_decay": 0.0}], lr=1e-3)
BATCH, EPOCHS = 128, 12
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    batches = torch.randperm(len(a_train))[: len(a_train) // BATCH * BATCH].split(BATCH)
    for ix in batches:
        loss = info_nce(net(a_train[ix], b_train[ix]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    scheduler.step()

    net.eval()
    with torch.no_grad():
        sims = [net(p, q) for p, q in zip(a_val.split(BATCH), b_val.split(BATCH))]
        val = sum(info_nce(s).item() for s in sims) / len(sims)
        top1 = sum((s.argmax(1) == torch.arange(len(s))).float().mean().item() for s in sims) / len(sims)
    print(f"{epoch:>3} loss {running / len(batches):.4f} val {val:.4f} top1 {top1:.3f}")
