"""A regressor of volumes: it learns well, until one batch holds a box with a side of zero."""

# mypy: ignore-errors

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Volumes(nn.Module):
    """The logarithm of a box's volume from its three sides."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, sides):
        return self.body(sides.log())


def boxes(count):
    sides = torch.rand(count, 3) * 4 + 0.1
    targets = sides.log().sum(1, keepdim=True)
    sides[1377, 2] = 0.0  # one row of the file was damaged
    return TensorDataset(sides, targets)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Volumes()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step, (sides, volume) in enumerate(DataLoader(boxes(4000), batch_size=32), start=1):
        loss = nn.functional.mse_loss(model(sides), volume)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
