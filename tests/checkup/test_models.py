"""A model with data: the numbers against plain ones, known faults, and that nothing of it changes."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import traindx
from traindx.cli import cli

cross_entropy = nn.functional.cross_entropy


def data(rows: int = 512) -> DataLoader[tuple[torch.Tensor, ...]]:
    torch.manual_seed(1)
    inputs = torch.randn(rows, 12)
    return DataLoader(TensorDataset(inputs, inputs[:, :4].argmax(1)), batch_size=64)


def network(depth: int = 3, width: int = 48, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Linear(12, width), activation()]
    for _ in range(depth - 2):
        layers += [nn.Linear(width, width), activation()]
    return nn.Sequential(*layers, nn.Linear(width, 4))


def findings(diagnosis: traindx.Diagnosis) -> set[str]:
    return {one.id for problem in diagnosis.problems for one in problem.findings if problem.severity != "low"}


def test_nothing_is_found_in_a_sound_one() -> None:
    for model in (network(), network(6, activation=nn.GELU), nn.Sequential(*network(), nn.Identity())):
        diagnosis = traindx.check(model, data(), cross_entropy)
        assert findings(diagnosis) == set()
        assert diagnosis.verdict == "insufficient_evidence"
        assert diagnosis.run.facts["loss_check"]["chance"] == pytest.approx(math.log(4))


def test_faults_are_found() -> None:
    fading = findings(traindx.check(network(16, activation=nn.Sigmoid), data(), cross_entropy))
    assert fading & {"layer_gradients_fade", "signal_collapses"}
    dead = network()
    with torch.no_grad():
        dead[2].bias.fill_(-50.0)
    assert "units_dead" in findings(traindx.check(dead, data(), cross_entropy))
    saturated = network(5, activation=nn.Tanh)
    with torch.no_grad():
        for layer in (saturated[0], saturated[2], saturated[4]):
            layer.weight.mul_(60.0)
    assert "units_saturated" in findings(traindx.check(saturated, data(), cross_entropy))
    loud = network()
    with torch.no_grad():
        loud[4].weight.mul_(200.0)
    assert "loss_above_chance" in findings(traindx.check(loud, data(), cross_entropy))

    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Linear(12, 16), nn.Linear(16, 4)

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.head(self.body(inputs).detach())

    assert "parameters_unreached" in findings(traindx.check(Cut(), data(), cross_entropy))


def test_the_model_and_the_streams_are_as_before() -> None:
    model = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 4))
    model[3].eval()
    first, classes = next(iter(data()))
    cross_entropy(model(first), classes).backward()
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    gradients = [parameter.grad.clone() for parameter in model.parameters()]  # type: ignore[union-attr]
    modes = [module.training for module in model.modules()]
    loader = list(data())
    streams = (torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy())  # type: ignore[index]
    traindx.check(model, loader, cross_entropy, curvature=True, overfit=True)
    traindx.gradients(model, loader, cross_entropy)
    traindx.activations(model, loader[0])
    assert torch.equal(torch.get_rng_state(), streams[0])
    assert random.getstate() == streams[1]
    assert (np.random.get_state()[1] == streams[2]).all()  # type: ignore[index]
    assert all(torch.equal(state[name], tensor) for name, tensor in model.state_dict().items())
    after = [parameter.grad for parameter in model.parameters()]
    assert all(
        one is not None and torch.equal(one, other) for one, other in zip(after, gradients, strict=True)
    )
    assert [module.training for module in model.modules()] == modes
    assert not any(module._forward_hooks for module in model.modules())


def test_numbers_against_plain_ones() -> None:
    model, loader = network(), list(data())
    facts = traindx.check(model, loader, cross_entropy).run.facts
    single = [torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters())) for x, y in loader]
    row = facts["gradients"][0]
    norms = torch.tensor([float(one[0].norm()) for one in single])
    assert row["norm"] == pytest.approx(float(norms.pow(2).mean().sqrt()), rel=1e-4)
    losses = torch.cat([cross_entropy(model(x), y, reduction="none") for x, y in loader]).detach()
    assert facts["hardest"][0]["index"] == int(losses.argmax())
    assert facts["hardest"][0]["loss"] == pytest.approx(float(losses.max()), rel=1e-5)
    classes = torch.cat([y for _, y in loader])
    assert facts["by_class"][2]["loss"] == pytest.approx(float(losses[classes == 2].mean()), rel=1e-5)
    flat = torch.stack([torch.cat([part.reshape(-1) for part in one]) for one in single])
    mean = flat.mean(0)
    noise = float((flat - mean).pow(2).sum(1).sum()) / (len(flat) - 1) * 64
    signal = float(mean.pow(2).sum()) - noise / 64 / len(flat)
    assert facts["loss_check"]["noise_scale"] == pytest.approx(noise / signal, rel=1e-3)


def test_tables_inside_a_loop(tmp_path: Path) -> None:
    model, (first, classes) = network(), next(iter(data()))
    with pytest.raises(ValueError, match="after backward"):
        traindx.gradients(model)
    cross_entropy(model(first), classes).backward()
    table = traindx.gradients(model)
    weight = model[0].weight.grad
    assert weight is not None
    assert table.rows[0]["norm"] == pytest.approx(float(weight.norm()), rel=1e-5)
    assert table.problems == ()
    assert "0.weight" in str(table)
    assert table.to_dict()["rows"][0]["name"] == "0.weight"
    table.plot(str(tmp_path / "gradients.png"))
    assert (tmp_path / "gradients.png").stat().st_size > 1000
    weight[0] = float("nan")
    assert "NaN" in traindx.gradients(model).problems[0]
    shown = traindx.activations(model, (first, classes))
    relu = next(row for row in shown if row["name"] == "1")
    assert relu["zero_share"] == pytest.approx(float((model[:2](first) == 0).float().mean()), abs=1e-6)
    assert traindx.activations(model, first).rows[0]["std"] > 0


def test_limits_of_gradients() -> None:
    loader = list(data())
    (early,) = traindx.gradients(network(9, activation=nn.Sigmoid), loader, cross_entropy).problems
    assert "early layers" in early
    dead, large = network(), network()
    with torch.no_grad():
        dead[0].bias[:36] = -50.0
        large[4].weight.mul_(3000.0)
    (text,) = traindx.gradients(dead, loader, cross_entropy).problems
    assert "half of the units of 0.weight or more" in text
    assert traindx.gradients(dead, loader, cross_entropy).rows[0]["dead_share"] == 0.75
    assert "exceed 100" in traindx.gradients(large, loader, cross_entropy).problems[0]


def test_gradients_that_need_not_be() -> None:
    """Words that a batch lacks, and biases in front of a batch norm."""
    torch.manual_seed(0)
    words = torch.randint(0, 900, (64, 5))
    model = nn.Sequential(
        nn.EmbeddingBag(900, 12), nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3)
    )
    table = traindx.gradients(model, [(words, words[:, 0] % 3)], cross_entropy)
    assert table.rows[0]["zero_share"] > 0.5
    assert table.problems == ()


def test_dead_units_in_a_small_file() -> None:
    dead = network()
    with torch.no_grad():
        dead[2].bias.fill_(-50.0)
    assert "units_dead" in findings(traindx.check(dead, list(data(200)), cross_entropy))


SCRIPT = """
import torch
from torch.utils.data import DataLoader, TensorDataset
def make_model(): return torch.nn.Sequential(torch.nn.Linear(12, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
def make_loader():
    inputs = torch.randn(256, 12)
    return DataLoader(TensorDataset(inputs, inputs[:, :4].argmax(1)), batch_size=32)
def nothing(): return []
def texts(): return ["a", "b"]
def threes(): return [(torch.randn(8, 12), torch.randn(8, 12), torch.zeros(8).long())]
def wide(): return [(torch.randn(8, 5), torch.zeros(8).long())]
def needs(size): return size
"""


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    script = str(tmp_path / "train.py")
    common = ["check", f"{script}:make_model", "--loss", "cross_entropy", "--data"]
    plots = ["--plots", str(tmp_path / "plots"), "--html", str(tmp_path / "a.html"), "--json", "--curvature"]
    result = CliRunner().invoke(cli, [*common, f"{script}:make_loader", *plots])
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["measured"]["curvature"]["largest"] > 0
    drawn = {path.name for path in (tmp_path / "plots").iterdir()}
    assert {"gradient_flow.png", "activations.png", "curvature.png"} <= drawn
    assert "Samples of the highest loss" in (tmp_path / "a.html").read_text()
    for name, line in {
        "nothing": "gives no batch",
        "texts": "yields a str",
        "threes": "do not take the batch",
        "wide": "do not take the batch",
        "needs": "needs arguments (size)",
        "absent": "has no absent",
    }.items():
        result = CliRunner().invoke(cli, [*common, f"{script}:{name}"])
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.stderr
        assert line in result.stderr


def test_a_batch_that_cannot_be_fitted() -> None:
    class Deaf(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(4))

        def forward(self, inputs: torch.Tensor) -> torch.Tensor:
            return self.bias + 0 * inputs[:, :4]

    assert "batch_not_fitted" in findings(traindx.check(Deaf(), data(), cross_entropy, overfit=True))
    assert "batch_not_fitted" not in findings(traindx.check(network(), data(), cross_entropy, overfit=True))


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert "0.weight" in capsys.readouterr().out
