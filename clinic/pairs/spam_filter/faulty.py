import torch
import torch.nn as nn

torch.manual_seed(48)
g = torch.Generator().manual_seed(48)
spamminess = torch.randn(50, generator=g)


def mails(n):
    words = torch.poisson(torch.full((n, 50), 0.8), generator=g)
    return torch.log1p(words), (
        words @ spamminess + 0.5 * torch.randn(n, generator=g) > 0.8 * spamminess.sum()
    ).float()


class SpamFilter(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(50, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
            nn.Flatten(0),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.layers(x)


x, y = mails(4000)
xv, yv = mails(800)
model = SpamFilter()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    total = 0.0
    for idx in torch.randperm(4000).split(80):
        optimizer.zero_grad()
        loss = loss_fn(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() / 50
    with torch.no_grad():
        out = model(xv)
        val_loss = loss_fn(out, yv).item()
    print(
        f"epoch {epoch + 1} loss {total:.4f} val_loss {val_loss:.4f} val_acc {(torch.sigmoid(out).round() == yv).float().mean().item():.3f}"
    )
