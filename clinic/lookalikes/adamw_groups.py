import torch
import torch.nn as nn

torch.manual_seed(5)


def param_groups(model, weight_decay):
    decay = [p for p in model.parameters() if p.ndim >= 2]
    rest = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": decay, "weight_decay": weight_decay}, {"params": rest, "weight_decay": 0.0}]


class Mixer(nn.Module):
    def __init__(self, tokens=9, dim=32):
        super().__init__()
        self.embed = nn.Linear(4, dim)
        self.n1, self.n2, self.n3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tok = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
        self.chan = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.tok(self.n1(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.chan(self.n2(x))
        return self.head(self.n3(x).mean(1))


def board(n):
    x = torch.randn(n, 9, 4)
    score = torch.stack([x[:, :3, 0].sum(1), x[:, 3:6, 1].sum(1), x[:, 6:, 2].sum(1)], 1)
    return x, score.argmax(1)


model = Mixer()
optimizer = torch.optim.AdamW(param_groups(model, 0.1), lr=3e-3, betas=(0.9, 0.95))
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=500)
xv, yv = board(500)
for step in range(500):
    x, y = board(64)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if (step + 1) % 50 == 0:
        with torch.no_grad():
            out = model(xv)
        print(f"step {step + 1} loss {loss.item():.4f} val_loss {nn.functional.cross_entropy(out, yv).item():.4f} acc {(out.argmax(1) == yv).float().mean():.3f}")
