"""Which of two rings does a point belong to?"""
import math
import torch
from torch import nn, Tensor
from typing import Tuple


def rings(n: int) -> Tuple[Tensor, Tensor]:
    label = torch.randint(0, 2, (n,))
    r = 1.0 + label + 0.15 * torch.randn(n)
    a = 2 * math.pi * torch.rand(n)
    return torch.stack((r * a.cos(), r * a.sin()), dim=1), label


class RingClassifier(nn.Module):
    def __init__(self, hidden: int = 64) -> None:
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.fc1(x)
        x = self.fc2(x)
        return self.fc3(x)


def evaluate(model: nn.Module, x: Tensor, y: Tensor) -> Tuple[float, float]:
    model.eval()
    with torch.no_grad():
        out = model(x)
    model.train()
    return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main() -> None:
    torch.manual_seed(0)
    x, y = rings(2000)
    xv, yv = rings(500)
    model = RingClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(10):
        for idx in torch.randperm(2000).split(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        val_loss, val_acc = evaluate(model, xv, yv)
        print(f"epoch {epoch + 1:2d}  loss {loss.item():.4f}  val_loss {val_loss:.4f}  val_acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
