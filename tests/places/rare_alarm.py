# cause: class_imbalance
import torch
import torch.nn as nn


def draw(n):
    alarm = (torch.rand(n) < 0.03).float()
    return torch.randn(n, 12) + 0.5 * alarm[:, None], alarm


def fit(net, signals, alarm, steps):
    objective = nn.BCEWithLogitsLoss()  # here
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for _ in range(steps):
        rows = torch.randint(0, len(signals), (64,))
        optimizer.zero_grad()
        loss = objective(net(signals[rows]).squeeze(1), alarm[rows])
        loss.backward()
        optimizer.step()


fit(nn.Linear(12, 1), *draw(4000), steps=200)
