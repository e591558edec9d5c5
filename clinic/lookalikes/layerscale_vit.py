import torch
import torch.nn as nn

torch.manual_seed(0)


class LayerScale(nn.Module):
    def __init__(self, dim, init=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(init * torch.ones(dim))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.ls1, self.ls2 = LayerScale(dim), LayerScale(dim)

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.ls1(self.attn(h, h, h, need_weights=False)[0])
        return x + self.ls2(self.mlp(self.norm2(x)))


class TinyViT(nn.Module):
    def __init__(self, dim=48, depth=3, classes=4):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, 4, 4)
        self.pos = nn.Parameter(0.02 * torch.randn(1, 16, dim))
        self.blocks = nn.ModuleList([Block(dim, 4) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x).mean(1))


def batch(n, g):
    y = torch.randint(0, 4, (n,), generator=g)
    x = 0.5 * torch.randn(n, 1, 16, 16, generator=g)
    for i in range(n):
        qx, qy = divmod(int(y[i]), 2)
        x[i, 0, 8 * qx + 2:8 * qx + 6, 8 * qy + 2:8 * qy + 6] += 1.0
    return x, y


g = torch.Generator().manual_seed(1)
vx, vy = batch(256, g)
model = TinyViT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
loss_fn = nn.CrossEntropyLoss()
for step in range(1, 241):
    model.train()
    x, y = batch(64, g)
    loss = loss_fn(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        model.eval()
        with torch.no_grad():
            out = model(vx)
        print(f"step {step} train_loss {loss.item():.4f} val_loss {loss_fn(out, vy).item():.4f} "
              f"val_acc {(out.argmax(1) == vy).float().mean().item():.3f}")
