import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.heads = nn.ModuleDict({"kind": nn.Linear(32, 3), "size": nn.Linear(32, 1)})

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}


net = TwoHeads()
kind_loss, size_loss = nn.CrossEntropyLoss(), nn.MSELoss()
optimizer = torch.optim.Adam(
    [
        {"params": net.trunk.parameters(), "lr": 1e-3},
        {"params": net.heads["kind"].parameters(), "lr": 5e-3, "weight_decay": 1e-4},
        {"params": net.heads["size"].parameters()},
    ],
    lr=2e-3,
)
way = torch.randn(8, 3)


def losses(n):
    x = torch.randn(n, 8)
    out = net(x)
    return kind_loss(out["kind"], (x @ way).argmax(1)), size_loss(out["size"].squeeze(1), x.norm(dim=1))


for step in range(1, 31):
    net.train()
    a, b = losses(64)
    total = a + 0.5 * b
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    if step % 10 == 0:
        net.eval()
        with torch.no_grad():
            va, vb = losses(128)
        print(f"step {step} total {total.item():.6f} kind {a.item():.6f} size {b.item():.6f}")
        print(f"  validation: kind {va.item():.6f} size {vb.item():.6f}")
result(net, optimizer)
