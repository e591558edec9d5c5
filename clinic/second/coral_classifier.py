import torch
import torch.nn as nn


class CoralNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.classifier = nn.Linear(32, num_classes)

    def forward(self, x):
        return self.classifier(self.backbone(x))


def corals(n, g):
    y = torch.randint(0, 6, (n,), generator=g)
    x = 0.5 * torch.randn(n, 3, 12, 12, generator=g)
    ramp = torch.arange(12).float()
    for i in range(n):
        k = int(y[i])
        wave = torch.sin(ramp * (0.6 + 0.5 * (k // 2)))
        x[i, k % 3] += wave[:, None] if k % 2 else wave[None, :]
    return x, y


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    x, y = corals(1000, g)
    xv, yv = corals(300, g)
    model = CoralNet(10)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.classifier = nn.Linear(32, 6)
    ce = nn.CrossEntropyLoss()
    for epoch in range(10):
        for idx in torch.randperm(1000).split(40):
            optimizer.zero_grad()
            loss = ce(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            out = model(xv)
        print(f"epoch {epoch}: loss {loss.item():.4f} val_loss {ce(out, yv).item():.4f} val_acc {(out.argmax(1) == yv).float().mean():.3f}")


main()
