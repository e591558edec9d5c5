import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = {
    "batch_size": 256,
    "lr": 0.15,
    "warmup_steps": 0,
    "steps": 400,
    "depth": 8,
    "width": 64,
}
torch.manual_seed(0)
centers = torch.randn(6, 16)


def batch(n):
    y = torch.randint(6, (n,))
    return centers[y] + torch.randn(n, 16), y


class DeepNet(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16 if i == 0 else width, width) for i in range(depth)])
        self.head = nn.Linear(width, 6)
        for layer in [*self.layers, self.head]:
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.head(x)


model = DeepNet(cfg["depth"], cfg["width"])
optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min(1.0, (s + 1) / max(1, cfg["warmup_steps"]))
)
x_val, y_val = batch(1000)
for step in range(1, cfg["steps"] + 1):
    x, y = batch(cfg["batch_size"])
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 20 == 0:
        with torch.no_grad():
            out = model(x_val)
        val_loss = F.cross_entropy(out, y_val).item()
        acc = (out.argmax(1) == y_val).float().mean().item()
        print(
            f"step {step} lr {scheduler.get_last_lr()[0]:.4f} loss {loss.item():.4f} val_loss {val_loss:.4f} val_acc {acc:.3f}"
        )
