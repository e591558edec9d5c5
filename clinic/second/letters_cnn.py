import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)


class LetterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=3)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=3)
        self.fc1 = nn.Linear(20 * 4, 50)
        self.fc2 = nn.Linear(50, 12)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = x.view(-1, 80)
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return F.softmax(x, dim=1)


glyphs = (torch.rand(12, 1, 7, 7) > 0.5).float()


def letters(n):
    y = torch.randint(0, 12, (n,))
    x = F.interpolate(glyphs[y], size=14) + 0.6 * torch.randn(n, 1, 14, 14)
    return (x - 0.5) / 0.75, y


X, Y = letters(2400)
XV, YV = letters(480)
net = LetterNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(8):
    running_loss = 0.0
    for i, idx in enumerate(torch.randperm(2400).split(48)):
        optimizer.zero_grad()
        outputs = net(X[idx])
        loss = criterion(outputs, Y[idx])
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % 25 == 24:
            print("[%d, %5d] loss: %.3f" % (epoch + 1, i + 1, running_loss / 25))
            running_loss = 0.0
    with torch.no_grad():
        out = net(XV)
    print("val loss: %.3f val accuracy: %.1f %%" % (criterion(out, YV), 100 * (out.argmax(1) == YV).float().mean()))
