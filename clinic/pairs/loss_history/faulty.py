import torch
import torch.nn as nn
import torch.nn.functional as F


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 24, 3, padding=1)
        self.b = nn.Conv2d(24, 24, 3, padding=1)
        self.c = nn.Conv2d(24, 1, 1)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


def stripes(n):
    clean = (torch.rand(n, 1, 1, 24) > 0.6).float().expand(n, 1, 24, 24)
    return clean + 0.6 * torch.randn(n, 1, 24, 24), clean


torch.manual_seed(22)
model = Segmenter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
xv, yv = stripes(32)
val_history = []
for step in range(1, 241):
    model.train()
    x, y = stripes(16)
    loss = F.binary_cross_entropy_with_logits(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        model.eval()
        val_loss = F.binary_cross_entropy_with_logits(model(xv), yv)
        val_history.append(val_loss)
        print(
            f"step {step} loss {loss.item():.4f} val_loss {val_history[-1]:.4f} best {min(val_history):.4f}"
        )
