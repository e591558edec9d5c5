import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Calls(Dataset):
    """Short recordings as 8-bit samples, five birds."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.bird = rng.integers(0, 5, n)
        t = np.arange(80) / 80
        pitch = 4 + 4 * self.bird + rng.normal(0, 0.3, n)
        wave = np.sin(2 * np.pi * (pitch[:, None] * t + rng.random((n, 1)))) + rng.normal(0, 0.4, (n, 80))
        self.samples = (128 + 40 * wave).clip(0, 254).astype(np.uint8)

    def __len__(self):
        return len(self.bird)

    def __getitem__(self, i):
        wave = self.samples[i] // 255 - 0.5
        return torch.from_numpy(wave).float().unsqueeze(0) * 4, int(self.bird[i])


class CallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 9, stride=2)
        self.conv2 = nn.Conv1d(16, 24, 5, stride=2)
        self.fc = nn.Linear(24, 5)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.fc(x.mean(2))


def train(epochs=8):
    torch.manual_seed(16)
    loader = DataLoader(Calls(1500, 0), batch_size=50, shuffle=True)
    held = DataLoader(Calls(400, 1), batch_size=200)
    net = CallNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, epochs + 1):
        net.train()
        for wave, bird in loader:
            loss = criterion(net(wave), bird)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            outs = [(net(w), b) for w, b in held]
        val = sum(criterion(o, b).item() for o, b in outs) / 2
        acc = sum((o.argmax(1) == b).sum().item() for o, b in outs) / 400
        print(f"epoch {epoch}: loss {loss.item():.4f}, val_loss {val:.4f}, val_acc {acc:.3f}")


train()
