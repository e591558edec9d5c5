"""Writes a checkpoint whose second layer hardly ever fires, and a file of data for it."""

import torch
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))


if __name__ == "__main__":
    torch.manual_seed(4)
    model = make_model()
    x = torch.randn(200, 10)
    y = x[:, :3].argmax(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        model[2].bias[:26] = -40.0
    torch.save(model.state_dict(), "model.pt")
    torch.save({"x": x, "y": y}, "sample.pt")
    print("saved")
