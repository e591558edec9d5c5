"""`traindx.lr_find` on models in this process and on scripts, and the command."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import traindx

SCRIPT = Path(__file__).parent / "scripts" / "ramped.py"


def run_traindx(words: list[str], *, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def data() -> TensorDataset:
    stream = torch.Generator().manual_seed(3)
    x = torch.randn(512, 8, generator=stream)
    return TensorDataset(x, (x[:, :1] - x[:, 1:2].abs()) + 0.1 * torch.randn(512, 1, generator=stream))


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))


def seed_all(number: int) -> None:
    torch.manual_seed(number)
    np.random.seed(number)
    random.seed(number)


def state_of(net: nn.Module, optimizer: torch.optim.Optimizer) -> Any:
    return copy.deepcopy((net.state_dict(), optimizer.state_dict(), [p.grad for p in net.parameters()]))


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def test_a_model_here_is_tested_and_left_as_it_was() -> None:
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-5)
    loader = DataLoader(data(), 32, shuffle=True, generator=torch.Generator().manual_seed(1))
    nn.functional.mse_loss(net(torch.randn(4, 8)), torch.zeros(4, 1)).backward()
    optimizer.step()
    net[1].eval()
    before, modes = state_of(net, optimizer), [part.training for part in net.modules()]
    groups = optimizer.param_groups[0]
    seed_all(11)
    found = traindx.lr_find(net, optimizer, nn.functional.mse_loss, loader, steps=80, seeds=2)
    after = (torch.rand(3), np.random.rand(3), random.random(), next(iter(loader))[0])
    assert alike(before, state_of(net, optimizer))
    assert optimizer.param_groups[0] is groups
    assert modes == [part.training for part in net.modules()]
    seed_all(11)
    fresh = DataLoader(data(), 32, shuffle=True, generator=torch.Generator().manual_seed(1))
    same = (torch.rand(3), np.random.rand(3), random.random(), next(iter(fresh))[0])
    assert alike(list(after[::3]), list(same[::3]))
    assert (after[1] == same[1]).all()
    assert after[2] == same[2]
    assert found.found
    assert found.low
    assert found.high
    assert 1e-4 < found.low.value < found.high.value < 0.3
    assert found.standing == "too_low"
    assert found.current == 1e-5


def test_groups_keep_their_ratio_and_accumulated_batches_make_one_step() -> None:
    net = nn.Linear(8, 1)
    seen: list[tuple[float, ...]] = []

    class Noted(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            seen.append(tuple(group["lr"] for group in self.param_groups))
            return super().step(closure)

    optimizer = Noted([{"params": [net.weight], "lr": 0.2}, {"params": [net.bias], "lr": 0.1}])
    calls = 0

    def compute(given: nn.Module, batch: Any) -> torch.Tensor:
        nonlocal calls
        calls += given is net
        return nn.functional.mse_loss(given(batch[0]), batch[1])

    found = traindx.lr_find(
        net,
        optimizer,
        None,
        DataLoader(data(), 16),
        compute=compute,
        accumulate=4,
        steps=50,
        seeds=1,
        span=(1e-3, 0.1),
    )
    assert calls == 4 * len(seen)
    assert found.ramps.steps == 50
    assert [one[0] for one in seen] == pytest.approx(np.geomspace(1e-3, 0.1, 50).tolist())
    assert all(two == pytest.approx(one / 2) for one, two in seen)
    assert [group["lr"] for group in optimizer.param_groups] == [0.2, 0.1]


def test_what_cannot_be_tested_is_told_in_one_line() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with pytest.raises(ValueError, match="no batches"):
        traindx.lr_find(net, optimizer, nn.functional.mse_loss, [])
    with pytest.raises(ValueError, match="needs model, optimizer"):
        traindx.lr_find(net)
    with pytest.raises(ValueError, match="does not exist"):
        traindx.lr_find("missing.py")


def test_the_command_on_a_script(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.read_text())
    words = ["lr-find", "--json", "--steps", "100", "--seeds", "2", "train.py", "--lr", "3"]
    done = run_traindx(words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["schema"] == "traindx/lr-find/1"
    assert told["verdict"] == "range"
    low, high = told["suggested"]["low"]["value"], told["suggested"]["high"]["value"]
    assert 1e-3 < low < high < told["largest_stable"]["value"] < 1.5
    assert told["current"]["lr"] == 3.0
    assert told["current"]["standing"] == "unstable"
    assert len(told["losses"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lr_find.png", "train.py"]


def test_short_scripts_and_failing_ones(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.read_text())
    short = run_traindx(["lr-find", "--no-plot", "train.py", "--epochs", "1"], cwd=tmp_path)
    assert short.returncode == 1
    assert "at least 40" in short.stdout
    assert "No supported answer" in short.stdout
    wrong = run_traindx(["lr-find", "train.py", "--nothing"], cwd=tmp_path)
    assert wrong.returncode == 2
    assert "other arguments" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]
