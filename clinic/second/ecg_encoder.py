import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 5, stride=2, padding=2)
        self.conv2 = nn.Conv1d(16, 32, 5, stride=2, padding=2)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        return F.relu(self.conv2(x)).mean(2)


class ECGNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.fc = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        features = self.encoder(x).detach()
        return self.fc(features)


def beats(n):
    t = torch.linspace(0, 1, 64)
    y = torch.randint(0, 4, (n,))
    centre = 0.3 + 0.4 * torch.rand(n, 1)
    width = torch.tensor([0.02, 0.04, 0.06, 0.08])[y][:, None]
    x = torch.exp(-((t - centre) / width) ** 2) + 0.25 * torch.randn(n, 64)
    return x.unsqueeze(1), y


model = ECGNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
xv, yv = beats(400)
for step in range(1, 401):
    x, y = beats(48)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        with torch.no_grad():
            out = model(xv)
        print(f"step {step} loss {loss.item():.4f} val_loss {F.cross_entropy(out, yv).item():.4f} val_acc {(out.argmax(1) == yv).float().mean():.3f}")
