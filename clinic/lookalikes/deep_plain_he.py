import torch
import torch.nn as nn

torch.manual_seed(0)


def build(d_in, width, depth, d_out):
    layers, last = [], d_in
    for _ in range(depth):
        lin = nn.Linear(last, width)
        nn.init.kaiming_normal_(lin.weight, nonlinearity="relu")
        nn.init.zeros_(lin.bias)
        layers += [lin, nn.ReLU()]
        last = width
    out = nn.Linear(last, d_out)
    nn.init.kaiming_normal_(out.weight, nonlinearity="linear")
    return nn.Sequential(*layers, out)


X = torch.randn(8000, 8)
Y = (X[:, :4].pow(2).sum(1) > X[:, 4:].pow(2).sum(1)).long()
net = build(8, 96, 12, 2)
opt = torch.optim.Adam(net.parameters(), lr=5e-4)
ce = nn.CrossEntropyLoss()
for epoch in range(4):
    run = 0.0
    for b in torch.randperm(7000).split(70):
        loss = ce(net(X[b]), Y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += loss.item() / 100
    with torch.no_grad():
        out = net(X[7000:])
    print(f"epoch {epoch} train_loss {run:.4f} val_loss {ce(out, Y[7000:]).item():.4f} acc {(out.argmax(1) == Y[7000:]).float().mean():.3f}")
