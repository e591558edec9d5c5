import torch
import torch.nn as nn

torch.manual_seed(0)
K = 10
proto = torch.randn(K, 1, 12, 12)


def make(n):
    y = torch.randint(0, K, (n,))
    return proto[y] + 1.8 * torch.randn(n, 1, 12, 12), y


model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(16 * 36, 64), nn.ReLU(), nn.Linear(64, K),
)
criterion = nn.CrossEntropyLoss(label_smoothing=0.2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
X, Y = make(2000)
XV, YV = make(400)
for epoch in range(15):
    model.train()
    tot = 0.0
    for i in torch.randperm(2000).view(-1, 50):
        optimizer.zero_grad()
        loss = criterion(model(X[i]), Y[i])
        loss.backward()
        optimizer.step()
        tot += loss.item() / 40
    model.eval()
    with torch.no_grad():
        o = model(XV)
    print(f"epoch {epoch + 1:2d}  loss {tot:.4f}  val_loss {criterion(o, YV):.4f}  val_acc {(o.argmax(1) == YV).float().mean():.3f}")
