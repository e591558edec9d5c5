"""One network, the same data, and every way PyTorch has of running an optimizer's step."""

import torch
import torch.nn as nn
from fingerprint import result

torch.set_num_threads(1)

FLAVOURS = {
    "fused AdamW": lambda p: torch.optim.AdamW(p, lr=3e-3, fused=True),
    "foreach SGD": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, foreach=True),
    "foreach Adam": lambda p: torch.optim.Adam(p, lr=3e-3, foreach=True),
    "maximize SGD": lambda p: torch.optim.SGD(p, lr=1e-3, maximize=True),
    "tensor lr": lambda p: torch.optim.Adam(p, lr=torch.tensor(2e-3), foreach=False),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2),
}

torch.manual_seed(0)
x = torch.randn(128, 10)
y = x.square().mean(1, keepdim=True)
done = []
for name, make in FLAVOURS.items():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = make(net.parameters())
    for _ in range(8):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{name:20s} final loss {loss.item():.6f}")
    done += [net.state_dict(), optimizer.state_dict()]

try:
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, capturable=True)
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
except Exception as error:
    print("capturable:", type(error).__name__)

result(done)
