"""Faults that show in the whole of a checkpoint: copies, ranks, statistics; and what looks like them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import traindx

Saved = dict[str, Any]


class Stack(nn.Module):
    def __init__(self, classes: int = 6) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(20, 32), nn.BatchNorm1d(32)
        self.blocks = nn.ModuleList(nn.Linear(32, 32) for _ in range(5))
        self.head = nn.Linear(32, classes)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        values = torch.relu(self.norm(self.first(inputs)))
        for block in self.blocks:
            values = torch.relu(block(values)) + values
        return self.head(values)


def trained(model: nn.Module, *, scale: float = 1.0, steps: int = 80) -> Saved:
    inputs = torch.randn(192, 20)
    classes = inputs[:, :6].argmax(1)
    average = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    step = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=2e-3)
    for at in range(steps):
        rows = slice(64 * (at % 3), 64 * (at % 3) + 64)
        step.zero_grad()
        nn.functional.cross_entropy(model(scale * inputs[rows]), classes[rows]).backward()
        step.step()
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                average[name].mul_(0.99).add_(value, alpha=0.01)
    corrected = {name: value / (1 - 0.99**steps) for name, value in average.items()}
    return {"model": model.state_dict(), "ema": corrected, "optimizer": step.state_dict(), "epoch": 9}


@pytest.fixture(scope="module")
def sound() -> Saved:
    torch.manual_seed(3)
    torch.set_num_threads(1)
    return trained(Stack())


def found(path: Path, saved: Any) -> dict[str, str]:
    torch.save(saved, path)
    return {finding.id: one.severity for one in traindx.check(path).problems for finding in one.findings}


def one_direction(saved: Saved) -> None:
    weight = saved["model"]["blocks.2.weight"]
    left, sizes, right = torch.linalg.svd(weight)
    weight.copy_(sizes.norm() * left[:, :1] @ right[:1])


def block_twice(saved: Saved) -> None:
    for name in ("weight", "bias"):
        saved["model"][f"blocks.3.{name}"] = saved["model"][f"blocks.2.{name}"].clone()


def uncorrected(saved: Saved) -> None:
    saved["ema"] = {name: 0.04 * value for name, value in saved["ema"].items()}


def through_half(saved: Saved) -> None:
    for entry in saved["optimizer"]["state"].values():
        entry["exp_avg_sq"] = (entry["exp_avg_sq"] * 1e-3).half().float()


def absurd_batch(saved: Saved) -> None:
    saved["model"]["norm.running_var"] *= 1e12


def codes(saved: Saved) -> None:
    weight = saved["model"]["blocks.1.weight"]
    weight.copy_((weight / weight.abs().max() * 127).round())


def class_never_trained(saved: Saved) -> None:
    for name in ("weight", "bias"):
        saved["model"][f"head.{name}"][3] = 0.0


FAULTS = {
    "weights_one_direction": one_direction,
    "blocks_equal": block_twice,
    "copy_out_of_scale": uncorrected,
    "moments_underflowed": through_half,
    "norm_statistics_far": absurd_batch,
    "weights_are_codes": codes,
}


@pytest.mark.parametrize("finding", FAULTS)
def test_a_fault_is_found(tmp_path: Path, sound: Saved, finding: str) -> None:
    saved = copy.deepcopy(sound)
    FAULTS[finding](saved)
    assert found(tmp_path / "broken.pt", saved)[finding] in ("medium", "high")


def test_a_class_that_was_never_trained(tmp_path: Path) -> None:
    saved = {"model": trained(Stack(12))["model"]}
    class_never_trained(saved)
    assert found(tmp_path / "class.pt", saved)["units_zero"] == "medium"


def raw_inputs() -> Saved:
    return trained(Stack(), scale=1000.0)


def shared_blocks() -> Saved:
    model = Stack()
    model.blocks = nn.ModuleList([model.blocks[0]] * 5)
    return trained(model)


def bottleneck() -> Saved:
    return trained(nn.Sequential(nn.Linear(20, 32), nn.Linear(32, 2), nn.Linear(2, 32), nn.Linear(32, 6)))


def two_models() -> Saved:
    return {"first": trained(Stack())["model"], "second": trained(Stack(), steps=20)["model"]}


@pytest.mark.parametrize("make", [raw_inputs, shared_blocks, bottleneck, two_models])
def test_what_looks_like_a_fault_is_none(tmp_path: Path, make: Callable[[], Saved]) -> None:
    torch.manual_seed(4)
    assert not set(FAULTS) & set(found(tmp_path / "sound.pt", make()))


def test_a_sound_one_is_no_problem(tmp_path: Path, sound: Saved) -> None:
    assert found(tmp_path / "sound.pt", sound) == {}


@pytest.mark.parametrize(
    ("still", "severity"),
    [("blocks.2", "medium"), ("first", "low"), ("blocks.0,blocks.1", "low"), ("head", "low")],
)
def test_single_layers_that_stand_still(tmp_path: Path, sound: Saved, still: str, severity: str) -> None:
    later = {
        name: value if name.startswith(tuple(still.split(","))) else value * 1.01
        for name, value in sound["model"].items()
    }
    for name, state in (("1.pt", sound["model"]), ("2.pt", later)):
        torch.save(state, tmp_path / name)
    problems = traindx.check([tmp_path / "1.pt", tmp_path / "2.pt"]).problems
    assert {finding.id: one.severity for one in problems for finding in one.findings}[
        "layers_not_moved"
    ] == severity


@pytest.mark.parametrize(("left", "seen"), [(0.7, True), (0.98, False)])
def test_a_layer_that_shrinks_from_file_to_file(tmp_path: Path, left: float, seen: bool) -> None:
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 6))
    state = trained(model)["model"]
    for at in range(10):
        shrunk = {
            name: value * (left**at if name == "2.weight" else 1 + 0.01 * at) for name, value in state.items()
        }
        torch.save({"model": shrunk, "step": 100 * at}, tmp_path / f"s{at}.pt")
    findings = {finding.id for one in traindx.check(tmp_path).problems for finding in one.findings}
    assert ("weights_shrank" in findings) is seen
