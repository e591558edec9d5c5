"""Eigenvalues and trace against a full Hessian; saddle, minimum and slope on functions of known curvature."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import traindx
from traindx.checkup.curvature.lanczos import lanczos, trace
from traindx.checkup.curvature.measure import LossSurface, curvature
from traindx.checkup.model.objects import LabelledBatch


def test_lanczos_and_trace_against_a_known_matrix() -> None:
    torch.manual_seed(0)
    root = torch.randn(60, 60)
    matrix = root + root.T
    values = torch.linalg.eigvalsh(matrix)
    found = lanczos(lambda vector: matrix @ vector, 60, 40)
    assert found.largest == pytest.approx(float(values[-1]), rel=1e-4)
    assert found.smallest == pytest.approx(float(values[0]), rel=1e-4)
    rough = lanczos(lambda vector: matrix @ vector, 60, 8)
    assert min(abs(float(one) - rough.largest) for one in values) <= rough.errors[0] + 1e-3
    mean, error = trace(lambda vector: matrix @ vector, 60, 200)
    assert abs(mean - float(matrix.trace())) < 4 * error


def test_products_against_the_full_hessian() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    batch = LabelledBatch((torch.randn(20, 4),), {}, torch.randint(0, 3, (20,)))
    surface = LossSurface(model, [batch], nn.functional.cross_entropy)
    hessian = torch.stack([surface.product(row) for row in torch.eye(surface.size)])
    names = [name for name, _ in model.named_parameters()]
    shapes = [one.shape for one in model.parameters()]

    def loss(vector: torch.Tensor) -> torch.Tensor:
        parts = torch.split(vector, [shape.numel() for shape in shapes])
        weights = {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes, strict=True)}
        output = torch.func.functional_call(model, weights, batch.arguments)
        return nn.functional.cross_entropy(output, batch.target)

    flat = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    full = torch.autograd.functional.hessian(loss, flat)
    torch.testing.assert_close(hessian, full, atol=1e-5, rtol=1e-4)
    found = curvature(model, [batch], nn.functional.cross_entropy)
    values = torch.linalg.eigvalsh(full)
    assert found["largest"] == pytest.approx(float(values[-1]), rel=1e-2)
    assert found["smallest"] == pytest.approx(float(values[0]), rel=0.1)


class Surface(nn.Module):
    """A quadratic of known curvatures plus a quartic that bounds it."""

    def __init__(self, curvatures: list[float], at: float) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.full((len(curvatures),), at))
        self.register_buffer("curvatures", torch.tensor(curvatures))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        squares = 0.5 * (self.curvatures * self.weights**2).sum() + 0.25 * self.weights.pow(4).sum()
        return 1.0 + squares + 0 * inputs.sum()


@pytest.mark.parametrize(
    ("curvatures", "at", "kind"),
    [
        ([4.0, 1.0, -1.0], 0.0, "saddle"),
        ([4.0, 1.0, 0.5], 0.0, "minimum"),
        ([4.0, 1.0, 0.5], 2.0, "slope"),
        ([0.0, 0.0, 0.0], 0.0, "flat"),
    ],
)
def test_kinds_of_points(curvatures: list[float], at: float, kind: str) -> None:
    model = Surface(curvatures, at)
    diagnosis = traindx.check(model, [torch.zeros(2, 1)], lambda output, _: output, curvature=True, lr=0.1)
    found = diagnosis.run.facts["curvature"]
    assert found["kind"] == kind
    if at == 0.0 and any(curvatures):
        assert found["largest"] == pytest.approx(max(curvatures), rel=1e-3)
        assert found["smallest"] == pytest.approx(min(curvatures), rel=1e-3)
    ids = {finding.id for problem in diagnosis.problems for finding in problem.findings}
    assert ("saddle_point" in ids) is (kind == "saddle")
    if kind == "saddle":
        assert found["loss_along_negative"] == pytest.approx(0.75, abs=0.02)  # its bottom, at distance 1
        assert diagnosis.problems[0].hypotheses[0].cause == "flat_region"


def test_a_rate_beyond_the_edge_of_stability() -> None:
    model = Surface([40.0, 1.0], 0.0)
    diagnosis = traindx.check(model, [torch.zeros(2, 1)], lambda output, _: output, curvature=True, lr=1.0)
    found = {finding.id for problem in diagnosis.problems for finding in problem.findings}
    assert "sharpness_exceeds_lr" in found
    assert diagnosis.run.facts["curvature"]["stable_lr"] == pytest.approx(0.05, rel=1e-3)
