import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Vibration(Dataset):
    """Windows of accelerometer readings with the wear to be told from them."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.wear = torch.rand(n, generator=g)
        t = torch.linspace(0, 12, 40)
        self.x = self.wear[:, None] * torch.sin(t) + 0.5 * torch.sin(3 * t) + 0.2 * torch.randn(n, 40, generator=g)
        if seed == 0:
            broken = torch.randperm(n, generator=g)[:5]
            self.x[broken] = 4000.0 * torch.randn(5, 40, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.wear[i]


torch.manual_seed(0)
train, val = DataLoader(Vibration(1600, 0), 32, shuffle=True), DataLoader(Vibration(400, 1), 200)
net = nn.Sequential(nn.Linear(40, 48), nn.ReLU(), nn.Linear(48, 1), nn.Flatten(0))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
mse = nn.MSELoss()
step = 0
for epoch in range(8):
    net.train()
    for x, w in train:
        opt.zero_grad()
        loss = mse(net(x), w)
        loss.backward()
        opt.step()
        step += 1
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.5f}")
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} val_loss {sum(mse(net(x), w).item() for x, w in val) / len(val):.5f}")
