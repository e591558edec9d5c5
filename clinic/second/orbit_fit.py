import torch
import torch.nn as nn

torch.manual_seed(0)


class OrbitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 64)
        self.b = nn.Linear(64, 64)
        self.c = nn.Linear(64, 2)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.tanh(self.a(x)))))


def rotate(n):
    p = torch.randn(n, 2)
    r = p.norm(dim=1, keepdim=True)
    ang = 1.2 / (0.3 + r)
    q = torch.cat([p[:, :1] * ang.cos() - p[:, 1:] * ang.sin(), p[:, :1] * ang.sin() + p[:, 1:] * ang.cos()], 1)
    return p, q


def train_step(model, optimizer, p, q):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(p), q)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.001)
    optimizer.step()
    return loss.item()


def main():
    model = OrbitNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    pv, qv = rotate(500)
    for step in range(500):
        loss = train_step(model, optimizer, *rotate(64))
        if step % 25 == 0:
            with torch.no_grad():
                v = nn.functional.mse_loss(model(pv), qv).item()
            print(f"step {step:4d} loss {loss:.4f} val_loss {v:.4f}")


main()
