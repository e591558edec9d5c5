"""The first step measured: the numbers are right, and the training goes on as if nothing had been done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from tests.changes.arms import arm, data, same
from traindx.engine import read
from traindx.experiment.runtime.change import Change
from traindx.experiment.runtime.in_process import arm as recorded

MEASURE = Change("measure_first_step")
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def model() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))


def train(
    net: nn.Module, loss_fn: Loss, x: torch.Tensor, y: torch.Tensor, steps: int = 1, batch: int = 16
) -> None:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(x, y), batch_size=batch)
    for _, (inputs, target) in zip(range(steps), loader, strict=False):
        optimizer.zero_grad()
        loss_fn(net(inputs), target).backward()
        optimizer.step()


def measured(folder: Path, net: nn.Module, loss_fn: Loss, x: torch.Tensor, y: torch.Tensor) -> dict[str, Any]:
    with recorded(folder, [MEASURE], internals=False):
        train(net, loss_fn, x, y)
    return dict(read(folder).runs[0].facts["measured"])


def test_the_training_is_the_same_bit_for_bit() -> None:
    def script() -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = model()
        train(net, functional.cross_entropy, *data(), steps=4)
        return [*net.state_dict().values(), torch.get_rng_state()]

    plain, looked = arm(script), arm(script, "measure_first_step")
    assert same(plain.result, looked.result)
    assert looked.said == ["measured at the first step: start, inputs, modes, items, memory"]


def test_chance_is_what_the_loss_itself_gives(tmp_path: Path) -> None:
    x, y = data()
    weights = torch.tensor([1.0, 2.0, 0.5])

    def loss_fn(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(output, target, weight=weights, label_smoothing=0.1)

    call = measured(tmp_path, model(), loss_fn, x, y)["start"]["calls"][0]
    first = y[:16]
    shares = torch.bincount(first, minlength=3) / 16 * 0.9 + 0.1 / 3
    assert call["even"] == pytest.approx(float(loss_fn(torch.zeros(16, 3), first)), rel=1e-5)
    assert call["constant"] == pytest.approx(float(loss_fn(shares.log().expand(16, 3), first)), rel=1e-4)
    sure = (functional.one_hot(first, 3) * 0.9 + 0.1 / 3).log()
    assert call["floor"] == pytest.approx(float(loss_fn(sure, first)), rel=1e-4)


def test_chance_of_real_targets_is_their_variance(tmp_path: Path) -> None:
    x, _ = data()
    y = x[:, :1] * 3 + 5
    call = measured(tmp_path, nn.Linear(4, 1), nn.MSELoss(), x, y)["start"]["calls"][0]
    assert call["even"] == pytest.approx(float((y[:16] ** 2).mean()), rel=1e-5)
    assert call["constant"] == pytest.approx(float(y[:16].var(unbiased=False)), rel=1e-5)
    assert call["floor"] == 0.0


def test_equal_inputs_with_other_targets_set_a_floor(tmp_path: Path) -> None:
    x, y = torch.ones(16, 4), torch.arange(16) % 2
    call = measured(tmp_path, nn.Linear(4, 2), nn.CrossEntropyLoss(), x, y)["start"]["calls"][0]
    assert call["floor"] == pytest.approx(0.6931, abs=1e-3)


class OverTheBatch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.line = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(self.line(x), dim=0)


class Words(nn.Module):
    def __init__(self, first: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 6)
        self.cell = nn.GRU(6, 6, batch_first=first)
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.cell(self.table(x))[0][:, -1])


@pytest.mark.parametrize(
    ("net", "leaks"), [(model(), False), (OverTheBatch(), True), (Words(True), False), (Words(False), True)]
)
def test_samples_that_see_each_other(tmp_path: Path, net: nn.Module, leaks: bool) -> None:
    x, y = data()
    if isinstance(net, Words):
        x = torch.randint(0, 10, (64, 5), generator=torch.Generator().manual_seed(0))
    items = measured(tmp_path, net, functional.cross_entropy, x, y)["items"]
    assert items["certain"] is True
    assert (items["leak_eval"] > 0) == leaks
    if items["batch_norm"]:
        assert items["leak_train"] > 0


def test_memory_grows_with_the_batch(tmp_path: Path) -> None:
    x, y = data()
    memory = measured(
        tmp_path,
        nn.Sequential(nn.Linear(4, 100), nn.ReLU(), nn.Linear(100, 3)),
        functional.cross_entropy,
        x,
        y,
    )["memory"]
    # The input and the output of ReLU, in four bytes each.
    assert memory["kept"] == 16 * (4 + 100) * 4
    assert memory["kept_half"] == 8 * (4 + 100) * 4
    assert 0 < memory["free"] <= memory["total"]


def test_what_cannot_be_measured_says_why(tmp_path: Path) -> None:
    x, y = data()
    told = measured(
        tmp_path, nn.Linear(4, 3), lambda output, target: (output.sum(1) - target).abs().mean(), x, y
    )
    assert "none of torch's loss functions" in told["start"]["why"]
    assert told["items"]["leak_eval"] == 0.0
