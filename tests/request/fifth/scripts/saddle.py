"""A net that has learned nothing for 40 epochs: it stands at a saddle, which the curvature shows."""

import torch
from torch import nn

import traindx

torch.manual_seed(13)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sign()  # neither column tells anything alone


def make_model():
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    for one in model.parameters():
        nn.init.normal_(one, 0, 1e-4)
    return model


def make_loader():
    return list(zip(x.split(64), y.split(64), strict=True))


if __name__ == "__main__":
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(40):
        for inputs, targets in make_loader():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
    print(f"loss {loss:.4f}")
    diagnosis = traindx.check(model, make_loader(), nn.functional.mse_loss, curvature=True)
    found = diagnosis.run.facts["curvature"]
    print(f"kind {found['kind']}, largest {found['largest']:.4f}, smallest {found['smallest']:.4f}")
    print(diagnosis.verdict, [cause.cause for one in diagnosis.problems for cause in one.hypotheses])
