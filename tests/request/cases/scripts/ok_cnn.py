import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
templates = torch.randn(4, 1, 12, 12)
y = torch.randint(0, 4, (900,))
x = templates[y] + 0.8 * torch.randn(900, 1, 12, 12)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 3 * 3, 4)
        self.drop = nn.Dropout(0.25)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(self.drop(x.flatten(1)))


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)
for epoch in range(8):
    net.train()
    perm = torch.randperm(700)
    for i in range(0, 700, 50):
        idx = perm[i : i + 50]
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    net.eval()
    with torch.no_grad():
        out = net(x[700:])
        print(
            f"epoch {epoch} train {loss.item():.4f} val {F.cross_entropy(out, y[700:]).item():.4f} acc {(out.argmax(1) == y[700:]).float().mean().item():.3f}"
        )
