"""Two stages: (1) train a backbone on plenty of textures, (2) freeze it and fit a new head for a small task."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def textures(n, rng, coarse):
    yy, xx = np.mgrid[:20, :20]
    ang = rng.integers(0, 6, n)
    freq = rng.integers(0, 3, n)
    img = np.empty((n, 1, 20, 20), np.float32)
    for i in range(n):
        t = ang[i] * np.pi / 6 + rng.normal(0, .09)
        f = [.55, .85, 1.25][freq[i]] * rng.uniform(.9, 1.1)
        img[i, 0] = np.sin(f * (xx * np.cos(t) + yy * np.sin(t)) + rng.uniform(0, 6.3)) + rng.normal(0, 1.0, (20, 20))
    label = ang * 3 + freq if not coarse else (ang % 3 == freq).astype(int) + 2 * (ang >= 3)
    return torch.from_numpy(img), torch.tensor(label)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def run(name, model, optimizer, train, test, epochs, bs=32):
    x, y = train
    for ep in range(epochs):
        model.train()
        acc_loss = 0
        for idx in torch.randperm(len(x)).split(bs):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            acc_loss += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            out = model(test[0])
        acc = (out.argmax(1) == test[1]).float().mean().item()
        print(f"{name} epoch {ep + 1}/{epochs} loss {acc_loss / len(x):.4f} test_loss {F.cross_entropy(out, test[1]).item():.4f} acc {acc:.4f}")
    return acc


if __name__ == "__main__":
    torch.manual_seed(9)
    rng = np.random.default_rng(9)
    model = Net(18)
    run("pretrain", model, torch.optim.Adam(model.parameters(), 2e-3),
        textures(4000, rng, False), textures(600, rng, False), 7)

    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 3e-3)
    model.head = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 4))
    final = run("transfer", model, optimizer, textures(600, rng, True), textures(800, rng, True), 25)
    print("transfer accuracy", round(final, 4))
