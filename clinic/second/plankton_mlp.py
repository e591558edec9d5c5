import torch
from torch import nn

torch.manual_seed(0)


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 1.0)
        nn.init.zeros_(m.bias)


protos = torch.randn(7, 64)
labels = torch.randint(0, 7, (2400,))
scans = protos[labels] + 3.5 * torch.randn(2400, 64)
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 7))
net.apply(weights_init)
crit = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for epoch in range(8):
    net.train()
    for idx in torch.randperm(2000).split(50):
        opt.zero_grad()
        loss = crit(net(scans[idx]), labels[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        out = net(scans[2000:])
        print(f"[{epoch}] loss: {loss.item():.3f} val_loss: {crit(out, labels[2000:]).item():.3f} acc: {(out.argmax(1) == labels[2000:]).float().mean():.3f}")
