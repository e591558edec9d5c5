import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


class SonarNet(nn.Module):
    def __init__(self, d_in=16, width=48, depth=30):
        super().__init__()
        self.inp = nn.Linear(d_in, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.out(x)


x = torch.randn(2000, 16)
y = ((x[:, :8] ** 2).sum(1) > (x[:, 8:] ** 2).sum(1)).long()
train = DataLoader(TensorDataset(x[:1600], y[:1600]), batch_size=50, shuffle=True)
net = SonarNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
crit = nn.CrossEntropyLoss()
for epoch in range(8):
    net.train()
    for xb, yb in train:
        opt.zero_grad()
        loss = crit(net(xb), yb)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        out = net(x[1600:])
        print(f"epoch {epoch} train_loss {loss.item():.4f} val_loss {crit(out, y[1600:]).item():.4f} val_acc {(out.argmax(1) == y[1600:]).float().mean():.3f}")
