"""Checkpoints of known truth: small nets that were really trained, as they are and broken in one way each."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import traindx

Training = dict[str, Any]


def trained(
    model: nn.Module, shape: tuple[int, ...], *, optimizer: str = "Adam", lr: float = 2e-3
) -> Training:
    """A training checkpoint after 60 steps on a problem that can be learned."""
    inputs = torch.randn(192, *shape)
    classes = (inputs.flatten(1)[:, :4]).argmax(1)
    step = getattr(torch.optim, optimizer)(model.parameters(), lr=lr)
    for at in range(60):
        rows = slice(64 * (at % 3), 64 * (at % 3) + 64)
        step.zero_grad()
        nn.functional.cross_entropy(model(inputs[rows]), classes[rows]).backward()
        step.step()
    return {"model": model.state_dict(), "optimizer": step.state_dict(), "epoch": 20}


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 4),
    )  # fmt: skip


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 32, batch_first=True), nn.Linear(32, 4)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(inputs)[0][:, -1])


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.lift, self.body = nn.Linear(6, 32), nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 4)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(self.lift(inputs)).mean(1))


@pytest.fixture(scope="module")
def trainings() -> dict[str, Training]:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    decayed = mlp()
    found = {
        "mlp": trained(mlp(), (20,)),
        "sgd": trained(mlp(), (20,), optimizer="SGD", lr=0.1),
        "decayed": trained(decayed, (20,), optimizer="AdamW"),
        "convolutional": trained(convolutional(), (3, 8, 8)),
        "recurrent": trained(Recurrent(), (5, 6)),
        "attending": trained(Attending(), (5, 6)),
    }
    normal = mlp()
    for layer in normal.modules():
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
    return {**found, "normal": trained(normal, (20,))}


def findings(path: Path, saved: Any) -> set[str]:
    torch.save(saved, path)
    diagnosis = traindx.check(path)
    assert diagnosis.verdict != "healthy"
    return {finding.id for problem in diagnosis.problems for finding in problem.findings}


@pytest.mark.parametrize("part", ["whole", "weights"])
def test_nothing_is_found_in_sound_ones(tmp_path: Path, trainings: dict[str, Training], part: str) -> None:
    alarms = {
        name: found
        for name, saved in trainings.items()
        if (found := findings(tmp_path / f"{name}.pt", saved if part == "whole" else saved["model"]))
    }
    assert alarms == {}


def _half_layer(saved: Training) -> None:
    saved["model"]["2.weight"][:40] = 0.0


def _as_at_first(saved: Training) -> None:
    saved["model"]["2.weight"], saved["model"]["2.bias"] = nn.Linear(64, 64).state_dict().values()


def _unlearned(saved: Training) -> None:
    saved["model"] = mlp().state_dict()


def _entry(part: str, key: str, change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Training], None]:
    def broken(saved: Training) -> None:
        saved[part][key] = change(saved[part][key])

    return broken


def _moment(name: str, value: float) -> Callable[[Training], None]:
    def broken(saved: Training) -> None:
        saved["optimizer"]["state"][2][name].fill_(value)

    return broken


def _statistics(saved: Training) -> None:
    for layer in (1, 4):
        saved["model"][f"{layer}.running_mean"].zero_()
        saved["model"][f"{layer}.running_var"].fill_(1.0)


def _no_optimizer(saved: Training) -> None:
    del saved["optimizer"]
    saved["scheduler"] = {"last_epoch": 20}


def _empty_optimizer(saved: Training) -> None:
    saved["optimizer"]["state"] = {}


def _scattered_units(saved: Training) -> None:
    saved["model"]["2.weight"][torch.randperm(64)[:30]] = 0.0


def _one_unit(saved: Training) -> None:
    saved["model"]["2.weight"][7] = 0.0


def _copies(saved: Training) -> None:
    saved["model"]["2.weight"][:] = saved["model"]["2.weight"][:1].clone()


BROKEN: list[tuple[str, str, Callable[[Training], None]]] = [
    ("mlp", "checkpoint_nonfinite", _entry("model", "2.weight", torch.rsqrt)),
    ("recurrent", "checkpoint_nonfinite", _entry("model", "head.bias", lambda one: one / 0)),
    ("mlp", "tensors_zero", _entry("model", "2.weight", torch.zeros_like)),
    ("attending", "tensors_zero", _entry("model", "body.layers.1.linear1.weight", torch.zeros_like)),
    ("mlp", "units_zero_block", _half_layer),
    ("mlp", "units_zero", _scattered_units),
    ("mlp", "units_zero", _one_unit),
    ("mlp", "units_equal", _copies),
    ("sgd", "weights_exploded", _entry("model", "0.weight", lambda one: one * 300)),
    ("convolutional", "weights_exploded", _entry("model", "3.weight", lambda one: one * 1e4)),
    ("decayed", "weights_collapsed", _entry("model", "2.weight", lambda one: one * 1e-3)),
    ("mlp", "weights_as_initialised", _as_at_first),
    ("sgd", "weights_as_initialised", _unlearned),
    ("convolutional", "norm_statistics_unused", _statistics),
    ("mlp", "moments_broken", _moment("exp_avg", float("nan"))),
    ("recurrent", "moments_broken", _moment("exp_avg_sq", -1.0)),
    ("attending", "moments_zero", _moment("exp_avg_sq", 0.0)),
    ("mlp", "moments_out_of_proportion", _moment("exp_avg_sq", 4.5e4)),
    ("attending", "moments_out_of_proportion", _moment("exp_avg_sq", 1e3)),
    ("mlp", "resume_state_missing", _no_optimizer),
    ("recurrent", "resume_state_missing", _empty_optimizer),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "finding", "broken"), BROKEN, ids=lambda one: one if isinstance(one, str) else ""
)
def test_what_was_broken_is_found(
    tmp_path: Path,
    trainings: dict[str, Training],
    name: str,
    finding: str,
    broken: Callable[[Training], None],
) -> None:
    saved = copy.deepcopy(trainings[name])
    broken(saved)
    assert finding in findings(tmp_path / "broken.pt", saved)


@pytest.mark.parametrize("history", ["short", "frozen", "spike", "rare words", "large layer"])
def test_second_moments_that_a_training_makes_are_in_proportion(tmp_path: Path, history: str) -> None:
    torch.manual_seed(0)
    words, first, last = nn.Embedding(500, 8), nn.Linear(8, 32), nn.Linear(32, 4)
    model = nn.Sequential(words, first, nn.ReLU(), last)
    step = torch.optim.Adam(model.parameters(), lr=1e-3)
    for at in range(3 if history == "short" else 400):
        rows = torch.randint(0, 500 if history == "rare words" else 50, (8,))
        step.zero_grad()
        nn.functional.cross_entropy(model(rows), rows % 4).backward()
        gradient = first.weight.grad
        assert gradient is not None
        if history == "frozen" and at > 100:
            gradient.zero_()
        if (history == "spike" and at == 200) or (history == "large layer"):
            gradient.mul_(1000)
        step.step()
    saved = {"model": model.state_dict(), "optimizer": step.state_dict(), "epoch": 4}
    assert "moments_out_of_proportion" not in findings(tmp_path / "trained.pt", saved)


def test_parameters_that_hardly_move_are_named(tmp_path: Path, trainings: dict[str, Training]) -> None:
    saved = copy.deepcopy(trainings["convolutional"])
    saved["optimizer"]["state"][4]["exp_avg_sq"].fill_(4.5e4)
    torch.save(saved, tmp_path / "damaged.pt")
    assert "(3.weight)" in traindx.check(tmp_path / "damaged.pt").problems[0].summary


def test_two_checkpoints_and_a_folder_of_them(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = mlp()
    for at, factor in enumerate((0.0, 0.01, 0.02)):
        with torch.no_grad():
            model[0].weight += factor * torch.randn_like(model[0].weight)
            model[4].weight += factor * torch.randn_like(model[4].weight)
        torch.save(model.state_dict(), tmp_path / f"step-{100 * at}.pt")
    pair = traindx.check([tmp_path / "step-0.pt", tmp_path / "step-100.pt"])
    moved = {row["name"]: row for row in pair.run.facts["moved"]}
    assert moved["2.weight"]["equal"]
    assert not moved["0.weight"]["equal"]
    assert moved["0.weight"]["change"] == pytest.approx(0.077, rel=0.2)
    assert "layers_not_moved" in {one.id for problem in pair.problems for one in problem.findings}
    film = traindx.check(tmp_path)
    assert list(film.run.series["weight_norm/0.weight"].steps) == [0, 100, 200]
    assert len(film.run.series["weight_change/0.weight"]) == 2


class Embedding(nn.Module):
    """A net whose embedding pads with its first row."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50, 32, padding_idx=0)
        self.lstm, self.head = nn.GRU(32, 16, batch_first=True), nn.Linear(16, 4)


INITIALISATIONS: dict[str, Callable[[torch.Tensor], Any]] = {
    "default": lambda _: None,
    "normal": nn.init.kaiming_normal_,
    "orthogonal": nn.init.orthogonal_,
    "small": lambda weight: nn.init.trunc_normal_(weight, std=0.02),
}


@pytest.mark.parametrize("initialise", INITIALISATIONS.values(), ids=INITIALISATIONS)
@pytest.mark.parametrize("kind", [mlp, convolutional, Recurrent, Attending, Embedding])
def test_a_model_that_nobody_trained_is_no_problem(
    tmp_path: Path, kind: Callable[[], nn.Module], initialise: Callable[[torch.Tensor], Any]
) -> None:
    torch.manual_seed(0)
    model = kind()
    for layer in model.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            initialise(layer.weight)
    torch.save(model.state_dict(), tmp_path / "fresh.pt")
    diagnosis = traindx.check(tmp_path / "fresh.pt")
    assert diagnosis.problems == ()
    signs = {sign.id for sign in diagnosis.signs}
    assert "weights_as_initialised" in signs or initialise is not INITIALISATIONS["default"]


def test_one_unit_without_weights_is_worth_knowing_and_no_problem(
    tmp_path: Path, trainings: dict[str, Training]
) -> None:
    saved = copy.deepcopy(trainings["mlp"]["model"])
    saved["2.weight"][7] = 0.0
    torch.save(saved, tmp_path / "unit.pt")
    diagnosis = traindx.check(tmp_path / "unit.pt")
    assert diagnosis.verdict == "insufficient_evidence"
    (problem,) = diagnosis.problems
    assert (problem.severity, "number 7" in problem.summary) == ("low", True)
