"""A user who wants to know: norms, updates, activations and batches of every step, printed by hand."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 24)
        self.act = nn.ReLU()
        self.second = nn.Linear(24, 24)
        self.squash = nn.Tanh()
        self.last = nn.Linear(24, 3)

    def forward(self, x):
        self.a = self.act(self.first(x))
        self.b = self.squash(self.second(self.a))
        return self.last(self.b)


def norm(tensors):
    return torch.cat([t.detach().flatten() for t in tensors]).norm().item()


net = Net()
way = torch.randn(12, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(1, 21):
    x = 3 * torch.randn(64, 12) + 1
    y = (x @ way).argmax(1)
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    before = {name: getattr(net, name).weight.detach().clone() for name in ("first", "second", "last")}
    optimizer.step()
    for name, old in before.items():
        layer = getattr(net, name)
        ratio = norm([layer.weight - old]) / norm([old])
        grad = norm([p.grad for p in layer.parameters()])
        print(f"{step} {name} grad {grad:.7g} weight {norm([old]):.7g} ratio {ratio:.7g}")
    print(f"{step} act zero {(net.a == 0).float().mean():.7g} mean {net.a.mean():.7g} std {net.a.std():.7g}")
    print(f"{step} squash saturated {(net.b.abs() > 0.99).float().mean():.7g} mean {net.b.mean():.7g}")
    print(f"{step} x mean {x.mean():.7g} std {x.std():.7g} min {x.min():.7g} max {x.max():.7g}")
    print(f"{step} out mean {out.mean():.7g} std {out.std():.7g}")
    print(f"{step} y top {y.bincount().max() / len(y):.7g} distinct {len(y.unique())}")
result(net, optimizer)
