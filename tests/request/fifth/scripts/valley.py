"""A linear fit at the end of its training: the curvature is known exactly and nowhere negative."""

import torch
from torch import nn

import traindx

torch.manual_seed(21)
x = torch.randn(300, 5) * torch.tensor([3.0, 1.0, 1.0, 1.0, 0.5])
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [0.0], [3.0]]) + 0.5 * torch.randn(300, 1)


def make_model():
    model = nn.Linear(5, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.linalg.lstsq(x, y).solution.T)
    return model


def make_loader():
    return [(x, y)]


if __name__ == "__main__":
    values = torch.linalg.eigvalsh(2 * x.T @ x / len(x))
    diagnosis = traindx.check(make_model(), make_loader(), nn.functional.mse_loss, curvature=True, lr=0.05)
    found = diagnosis.run.facts["curvature"]
    assert abs(found["largest"] / float(values[-1]) - 1) < 0.01
    assert abs(found["smallest"] / float(values[0]) - 1) < 0.05
    print(f"kind {found['kind']}, verdict {diagnosis.verdict}, {len(diagnosis.problems)} problems")
