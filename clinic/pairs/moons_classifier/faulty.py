import numpy as np
import torch
import torch.nn as nn


def make_moons(n, noise, rng):
    half = n // 2
    a = rng.uniform(0, np.pi, half)
    b = rng.uniform(0, np.pi, n - half)
    x = np.concatenate([np.c_[np.cos(a), np.sin(a)], np.c_[1 - np.cos(b), 0.5 - np.sin(b)]])
    y = np.r_[np.zeros(half), np.ones(n - half)]
    order = rng.permutation(n)
    x = x[order] + rng.normal(0, noise, (n, 2))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y[order], dtype=torch.float32)


class MLP(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )
        for m in self.layers:
            if isinstance(m, nn.Linear):
                nn.init.kaiming_normal_(m.weight)
                nn.init.constant_(m.bias, -4.0)

    def forward(self, x):
        return self.layers(x).squeeze(1)


def main():
    torch.manual_seed(2)
    rng = np.random.default_rng(2)
    x, y = make_moons(2000, 0.15, rng)
    xv, yv = make_moons(500, 0.15, rng)
    model = MLP()
    loss_fn = nn.BCEWithLogitsLoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = 0
    for epoch in range(10):
        for idx in torch.randperm(len(x)).split(50):
            loss = loss_fn(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 40 == 0:
                with torch.no_grad():
                    out = model(xv)
                    vl = loss_fn(out, yv)
                    acc = ((out > 0) == (yv > 0.5)).float().mean()
                print(f"step {step} loss {loss.item():.4f} val_loss {vl.item():.4f} val_acc {acc.item():.3f}")


main()
