import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.randn(1024, 16)
y = (x[:, 0] * x[:, 1] > 0).long() * 2 + (x[:, 2] > 0).long()

layers = []
for i in range(12):
    layers += [nn.Linear(16 if i == 0 else 32, 32), nn.Sigmoid()]
model = nn.Sequential(*layers, nn.Linear(32, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(25):
    perm = torch.randperm(len(x))
    total = 0.0
    for i in range(0, len(x), 64):
        idx = perm[i : i + 64]
        loss = loss_fn(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / 16:.4f}")
